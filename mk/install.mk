# make install: PREFIX, LIBDIR, MANDIR, DESTDIR as usual.
.PHONY: install uninstall
install: all ## PREFIX, LIBDIR, MANDIR and DESTDIR as usual
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/poolmem \
	  $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7
	install -m 755 $(B)/poolmem $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(B)/libpoolmem.so $(DESTDIR)$(LIBDIR)/libpoolmem.so.1
	ln -sf libpoolmem.so.1 $(DESTDIR)$(LIBDIR)/libpoolmem.so
	install -m 644 $(B)/libpool.a $(DESTDIR)$(LIBDIR)/
	install -m 644 $(wildcard include/*.h include/*.hpp) $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(wildcard docs/*.1) $(DESTDIR)$(MANDIR)/man1/
	install -m 644 $(wildcard docs/*.5) $(DESTDIR)$(MANDIR)/man5/
	install -m 644 $(wildcard docs/*.7) $(DESTDIR)$(MANDIR)/man7/
	for f in poolmem.pc poolmemConfig.cmake; do \
	  sed 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@VERSION@|$(VERSION)|g' packaging/$$f.in > $(B)/$$f; done
	install -m 644 $(B)/poolmem.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 $(B)/poolmemConfig.cmake $(DESTDIR)$(LIBDIR)/cmake/poolmem/

uninstall: ## removes what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/poolmem $(DESTDIR)$(LIBDIR)/libpoolmem.so* $(DESTDIR)$(LIBDIR)/libpool.a \
	  $(DESTDIR)$(LIBDIR)/pkgconfig/poolmem.pc $(DESTDIR)$(LIBDIR)/cmake/poolmem/poolmemConfig.cmake \
	  $(addprefix $(DESTDIR)$(PREFIX)/,$(wildcard include/*.h include/*.hpp)) \
	  $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard docs/*.1))) \
	  $(addprefix $(DESTDIR)$(MANDIR)/man5/,$(notdir $(wildcard docs/*.5))) \
	  $(addprefix $(DESTDIR)$(MANDIR)/man7/,$(notdir $(wildcard docs/*.7)))
