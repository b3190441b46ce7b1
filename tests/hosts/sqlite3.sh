# SPDX-License-Identifier: MIT
# A database built, indexed, joined and compacted.
packages=sqlite3 programs=sqlite3 reports='report.sqlite3*.json'
that=('counted.allocs > 10000' 'process.foreign_frees == 0')
prepare() {
    cat >work.sql <<'C'
create table item(id integer primary key, label text, weight real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 150000)
    insert into item select i, 'item ' || i || hex(i * 7919), i * 1.5 from n;
create index by_label on item(label);
select count(*), sum(weight) from item where label like 'item 1%';
select a.label from item a join item b on a.id = b.id + 1 order by a.weight desc limit 3;
select length(group_concat(label)) from (select label from item limit 50000);
select count(distinct substr(label, 1, 8)) from item;
delete from item where id % 3 = 0;
vacuum;
pragma integrity_check;
C
}
host_run() {
    rm -f work.db
    under sqlite3 -batch work.db <work.sql
}
