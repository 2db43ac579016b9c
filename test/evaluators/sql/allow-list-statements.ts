import type { Dialect } from '../../../packages/sql-reader/src/index.js';

/** Texts that are no pure SELECT: each has an effect, waits, reads files, or calls what may do so. */
export const EFFECTS: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    ...["pg_notify('a', 'b')", 'pg_sleep(1)', "pg_read_file('/etc/passwd')", "lo_import('/x')", 'lo_unlink(1)'],
    ...["dblink('a', 'b')", "setval('s', 1)", "nextval('s')", 'pg_terminate_backend(1)', "set_config('a', 'b', false)"],
    ...["query_to_xml('DELETE FROM t', true, false, '')", 'pg_advisory_lock(1)', 'pg_reload_conf()', 'random()'],
    ...["pg_ls_dir('/')", "pg_logical_emit_message(true, 'a', 'b')", 'txid_current()', 'wipe()', 'myschema.lower(a)'],
    ...['"Lower"(a)', 'pg_catalog.pg_sleep(1)', 'information_schema._pg_truetypid(a, b)', "pg_sleep_for('1s')"],
  ].map((call) => `SELECT ${call}`),
  mysql: [
    ...['SLEEP(30)', "BENCHMARK(100, MD5('a'))", "GET_LOCK('a', 1)", "RELEASE_LOCK('a')", "LOAD_FILE('/x')", 'RAND()'],
    ...['mydb.f(1)', 'wipe()', 'LAST_INSERT_ID(5)', "MASTER_POS_WAIT('a', 1)", 'UUID_SHORT()', "sys_exec('x')"],
    ...["WAIT_FOR_EXECUTED_GTID_SET('x')", '`sleep`(1)', '@x := 1', '1 INTO @x', "1 INTO OUTFILE '/x'"],
    ...["1 INTO DUMPFILE '/x'", '1 /*! INTO @x */', '1 FROM t LOCK IN SHARE MODE', '1 FROM t FOR UPDATE'],
    ...['1 FROM t FOR SHARE', 'sys.ps_kill(1)', '`mydb`.`concat`(1)', '(SELECT SLEEP(1))', '1 WHERE SLEEP(1) = 0'],
  ].map((rest) => `SELECT ${rest}`),
  tsql: [
    ...["* FROM OPENROWSET('a', 'b', 'c')", "* FROM OPENQUERY(s, 'DROP TABLE t')", "* FROM OPENDATASOURCE('a', 'b').c.d.e"],
    ...['dbo.wipe()', 'wipe()', 'NEXT VALUE FOR s', 'NEWID()', '@x = 1', '* INTO u FROM t', '* FROM t WITH (UPDLOCK)'],
    ...['* FROM t WITH (TABLOCKX, HOLDLOCK)', '* FROM fn_trace_gettable(1, 2)', "* FROM sys.fn_xe_file_target_read_file('a')"],
    ...['geometry::Parse(1)', 'TOP (5) wipe(1) FROM t', '[wipe](1)', 'RAND()', '1; EXEC xp_cmdshell N\'dir\'', '1 EXEC wipe'],
    ...["1 WAITFOR DELAY '0:0:9'", 'CAST(a AS dbo.mytype)', 'PUBLISHINGSERVERNAME()', '* FROM x CROSS APPLY dbo.f(a) y'],
  ].map((rest) => `SELECT ${rest}`),
  oracle: [
    ...["UTL_HTTP.REQUEST('http://x')", "UTL_INADDR.GET_HOST_ADDRESS('x')", "DBMS_XMLGEN.GETXML('x')", 'DBMS_LOCK.SLEEP(1)'],
    ...["SYS.DBMS_EXPORT_EXTENSION.GET_DOMAIN_INDEX_TABLES('a')", 'pkg.wipe', 'pkg.wipe()', 'wipe', 'wipe(1)', 's.NEXTVAL'],
    ...["HTTPURITYPE('http://x').GETCLOB()", 'DBMS_RANDOM.VALUE', 'SYS_GUID()', '"lower"(1)', 'app.pkg.wipe(1)', 'UTL_FILE.FOPEN(1)'],
  ].map((call) => `SELECT ${call} FROM dual`),
  sqlite: [
    ...["load_extension('x')", "writefile('a', 'b')", "readfile('a')", "fts3_tokenizer('a')", "edit('a')", 'random()', 'wipe(1)'],
    ...["* FROM pragma_table_info('t')", '* FROM pragma_database_list', "* FROM fsdir('/')", "a REGEXP 'b' FROM t", 'fts5(1)'],
    ...['"load_extension"(1)', '[writefile](1, 2)', '`readfile`(1)', '1 FROM t WHERE wipe(a)', "eval('DROP TABLE t')", 'randomblob(5)'],
  ].map((rest) => `SELECT ${rest}`),
};

/** More of PostgreSQL than calls. */
export const POSTGRES_EFFECTS: readonly string[] = [
  'SELECT * FROM t FOR UPDATE',
  'SELECT * FROM t FOR NO KEY UPDATE SKIP LOCKED',
  'SELECT * FROM t FOR SHARE',
  'SELECT * FROM (SELECT * FROM t FOR KEY SHARE) x',
  'SELECT * INTO u FROM t',
  'CREATE TABLE u AS SELECT 1',
  'WITH d AS (DELETE FROM t RETURNING 1) SELECT 1 FROM d',
  'WITH d AS (SELECT 1) DELETE FROM t',
  'EXPLAIN ANALYZE DELETE FROM t',
  "COPY t TO PROGRAM 'x'",
  'DO $$ BEGIN END $$',
  'CALL wipe()',
  'VALUES (pg_sleep(1))',
  'TABLE t',
  'SELECT 1; DELETE FROM t',
  'SET a = 1',
  "SELECT ('/etc/passwd'::text).pg_read_file",
  'SELECT a OPERATOR(public.+) b FROM t',
  'SELECT a === b FROM t',
  "SELECT 'x'::mytype",
  'SELECT CAST(a AS myschema.int4) FROM t',
  'SELECT * FROM pg_read_file(1) x',
  'SELECT * FROM ROWS FROM (pg_sleep(1)) x',
  'SELECT 1 FROM t ORDER BY pg_sleep(1)',
  'SELECT 1 FROM t GROUP BY pg_sleep(1)',
  'SELECT 1 LIMIT (SELECT pg_sleep(1) IS NULL)::int',
  'SELECT sum(pg_sleep(1)::text::int) OVER () FROM t',
  'SELECT * FROM t TABLESAMPLE mine (10)',
  'SELECT CASE WHEN a THEN pg_notify(a, b) END FROM t',
];

/** Reading texts as agents and libraries write them. */
export const READS: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    "SELECT lower(a), count(*) FROM t WHERE b = 1 AND c LIKE 'x%' GROUP BY 1 HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 5",
    "SELECT a::int, b ->> 'x', now() - interval '1 day', extract(year from d), coalesce(x, 0) FROM t",
    'WITH x AS (SELECT 1 a) SELECT a FROM x JOIN y USING (a) WHERE EXISTS (SELECT 1 FROM z) UNION ALL SELECT 2',
    'SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t TABLESAMPLE system (10)',
    'SELECT a FROM t WHERE b IN ($1, $2) AND c = ANY($3)',
    'SELECT CURRENT_DATE, CASE WHEN a THEN 1 ELSE 2 END, ARRAY[1,2], a[1:2], (1,2) = (3,4), pg_catalog.lower(b) FROM t',
    "SELECT jsonb_path_query(a, '$.x'), a ? 'b', json_agg(x) FILTER (WHERE y) FROM t, LATERAL jsonb_array_elements(a) e",
    "SELECT date_trunc('month', d) AS m, sum(total) FROM orders WHERE d >= now() - interval '1 year' GROUP BY 1",
    'SELECT c.relname, pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE pg_catalog.pg_table_is_visible(c.oid)',
    `SELECT "auth_user"."id" FROM "auth_user" WHERE UPPER("auth_user"."email"::text) LIKE UPPER('%x%') LIMIT 21`,
    'SELECT "users".* FROM "users" WHERE "users"."id" = $1 LIMIT $2',
    'SELECT "t0"."id" FROM "public"."User" AS "t0" WHERE ("t0"."a" = $1 AND 1=1) ORDER BY "t0"."id" ASC LIMIT $2 OFFSET $3',
    "SELECT string_agg(name, ', ' ORDER BY name), percentile_cont(0.5) WITHIN GROUP (ORDER BY x), array_agg(DISTINCT y) FROM t",
    "SELECT to_tsvector('english', a) @@ plainto_tsquery('b'), d AT TIME ZONE 'UTC', substring(a from 1 for 2), trim(a), x BETWEEN 1 AND 2 FROM t",
    'SELECT * FROM generate_series(1, 10) g(i) LEFT JOIN LATERAL (SELECT 1) x ON true',
    "SELECT xmlelement(name a, b), json_build_object('a', 1), '{}'::jsonb #> '{a}', a IS DISTINCT FROM b, a ILIKE 'x' FROM t",
  ],
  mysql: [
    "SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ','), IFNULL(a, 1), DATE_ADD(a, INTERVAL 1 DAY), IF(a, b, c) FROM t WHERE b REGEXP 'x' LIMIT 5, 10",
    "SELECT CAST(a AS CHAR), CONVERT(a USING utf8mb4), DATE_FORMAT(d, '%Y'), YEAR(d), JSON_EXTRACT(a, '$.x'), a->'$.x', COUNT(DISTINCT a) FROM t",
    'SELECT `users`.* FROM `users` WHERE `users`.`id` = 1 LIMIT 1',
    'SELECT NOW(), CURDATE(), UNIX_TIMESTAMP(d), CONCAT_WS(a, b), LEFT(a, 2), REPLACE(a, b, c) FROM t JOIN u ON t.id = u.id',
    "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t WHERE MATCH (a) AGAINST ('x')",
  ],
  tsql: [
    'SELECT TOP 5 a, LEN(b), GETDATE(), ISNULL(c, 0), CONVERT(varchar(10), d, 120), DATEADD(day, 1, d) FROM dbo.t WITH (NOLOCK) WHERE a = @p',
    "SELECT a FROM t CROSS APPLY STRING_SPLIT(b, ',') s ORDER BY a OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY",
    "SELECT TRY_CAST(a AS int), FORMAT(d, 'x'), IIF(a > 1, 2, 3), STRING_AGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t",
    'SELECT [Limit1].[Id] FROM [dbo].[Users] AS [Limit1] WHERE [Limit1].[Id] = @__id_0',
    'WITH x AS (SELECT a, ROW_NUMBER() OVER (ORDER BY b) n FROM t) SELECT * FROM x WHERE n < 5',
  ],
  oracle: [
    "SELECT SYSDATE, NVL(o.a, 1), TO_CHAR(o.d, 'YYYY'), DECODE(a, 1, 2), LISTAGG(a, ',') WITHIN GROUP (ORDER BY a) FROM orders o WHERE ROWNUM < 5",
    'SELECT o.a FROM s.orders o, x WHERE x.b = o.b AND s.orders.c = 1',
    'SELECT SYSTIMESTAMP, USER, LEVEL FROM dual CONNECT BY LEVEL < 5',
    "SELECT e.name, RANK() OVER (ORDER BY e.salary) r FROM hr.employees e WHERE e.hired > TO_DATE('2024-01-01', 'YYYY-MM-DD') FETCH FIRST 5 ROWS ONLY",
    'SELECT x.n FROM (SELECT 1 n FROM dual) x',
  ],
  sqlite: [
    "SELECT upper(a), count(*), strftime('%Y', d), json_extract(a, '$.x'), a ->> 'x', CAST(a AS TEXT) FROM t WHERE b LIKE 'x' LIMIT 5",
    "SELECT value FROM json_each('[1]')",
    'SELECT group_concat(a), total(b), ifnull(c, 0), iif(a, 1, 2), round(x, 2), datetime(d), substr(a, 1, 2) FROM t GROUP BY a',
    'SELECT a, row_number() OVER (ORDER BY b) FROM "t" WHERE a IN (SELECT b FROM u) UNION SELECT 1, 2',
    'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c',
  ],
};
