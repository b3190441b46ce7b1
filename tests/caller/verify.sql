-- SPDX-License-Identifier: MIT
-- Traffic for make verify-tags.
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into t select i, 'row ' || i || hex(i * 7919), i * 1.5 from n;
create index ix on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select a.b from t a join t b on a.a = b.a + 1 order by a.c desc limit 3;
select count(distinct substr(b, 1, 8)) from t;
