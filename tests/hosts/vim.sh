# SPDX-License-Identifier: MIT
# Four interpreters in one process: vim.nox runs Lua, Perl, Python and Ruby. With examples/conf/vim.conf each has a pool.
packages=vim-nox programs=vim.nox conf=$root/examples/conf/vim.conf reports='report.vim.nox.*.json'
that=('pool["Lua"].allocs > 10000' 'pool["Perl"].allocs > 10000' 'pool["Python"].allocs > 1000'
      'pool["Ruby"].allocs > 10000' 'process.foreign_frees == 0')
prepare() {
    cat >work.vim <<'C'
lua local t = {} for i = 1, 100000 do t[i] = {i, tostring(i)} end print(#t)
python3 data = [{"i": i, "s": str(i) * 2} for i in range(60000)]; print(len(data))
perl my %h; for (1 .. 60000) { $h{$_} = [$_, "x$_"]; } VIM::Msg(scalar keys %h);
ruby a = (1..60000).map { |i| [i, "some longer string number #{i}" * 2] }; puts a.size
let l = map(range(50000), '[v:val, string(v:val)]')
call sort(l)
call writefile([string(len(l)), string(l[77]), luaeval('1+1'), string(py3eval('len(data)'))], 'result')
qa!
C
}
host_run() {
    HOME=$PWD PYTHONMALLOC=malloc under vim.nox -u NONE -i NONE -N -es -S work.vim
    local status=$?
    cat result
    return $status
}
