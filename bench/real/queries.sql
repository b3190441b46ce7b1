-- SPDX-License-Identifier: MIT
create table item(id integer primary key, name text, price real, kind integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000)
  insert into item select i, 'item ' || i || hex(i * 7919), i * 0.25, i % 97 from n;
create index item_name on item(name);
create table owner(item integer, who text);
insert into owner select id, 'owner ' || (id % 1000) from item where id % 2;
select count(*), sum(price) from item where name like 'item 1%';
select who, count(*) c, sum(price) from owner join item on item.id = owner.item group by who order by c desc, who limit 5;
select kind, max(length(name)) from item group by kind order by kind limit 5;
select count(distinct substr(name, 1, 9)) from item;
update item set name = name || ' (sold)' where id % 3 = 0;
delete from item where id % 5 = 0;
select length(group_concat(name)) from (select name from item order by price desc limit 40000);
