# SPDX-License-Identifier: MIT
# php opens its extensions with RTLD_DEEPBIND and mixes pointers: allocators preloaded without care crash here.
packages=php-cli programs=php reports='report.php*.json'
that=('counted.allocs > 1000' 'process.foreign_frees == 0')
prepare() {
    cat >work.php <<'C'
<?php
$table = [];
for ($i = 0; $i < 200000; $i++)
    $table["key$i"] = [$i, str_repeat("x", $i % 40)];
$text = json_encode($table);
echo strlen($text), " ", count(json_decode($text, true)), "\n";
for ($i = 0; $i < 2; $i++)
    preg_match_all("/\w+/", file_get_contents($argv[1]), $words);
echo count($words[0]), " ", md5(serialize($table)), "\n";
exit(5);
C
}
host_run() {
    under php -d memory_limit=-1 work.php "$data/words.txt"
    echo "ended with $?"
    USE_ZEND_ALLOC=0 under php -d memory_limit=-1 work.php "$data/words.txt"
}
