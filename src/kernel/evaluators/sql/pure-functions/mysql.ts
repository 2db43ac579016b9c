/** Functions of MySQL without effects. Source: reference manual, chapters 14.5 to 14.19. */
export const MYSQL_FUNCTIONS =
  'abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid ' +
  'bit_and bit_count bit_length bit_or bit_xor ceil ceiling char char_length character_length charset ' +
  'coalesce coercibility collation compress concat concat_ws connection_id conv convert convert_tz cos ' +
  'cot count crc32 cume_dist curdate current_date current_role current_time current_timestamp ' +
  'current_user curtime database date date_add date_format date_sub datediff day dayname dayofmonth ' +
  'dayofweek dayofyear degrees dense_rank elt exp export_set extract extractvalue field find_in_set ' +
  'first_value floor format format_bytes format_pico_time found_rows from_base64 from_days from_unixtime ' +
  'get_format greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa ' +
  'insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull json_array ' +
  'json_array_append json_array_insert json_arrayagg json_contains json_contains_path json_depth ' +
  'json_extract json_insert json_keys json_length json_merge json_merge_patch json_merge_preserve ' +
  'json_object json_objectagg json_overlaps json_pretty json_quote json_remove json_replace ' +
  'json_schema_valid json_schema_validation_report json_search json_set json_storage_free ' +
  'json_storage_size json_table json_type json_unquote json_valid json_value lag last_day last_value ' +
  'lcase lead least left length like linestring ln localtime localtimestamp locate log log10 log2 lower ' +
  'lpad ltrim make_set makedate maketime max mbrcontains mbrintersects mbrwithin md5 microsecond mid min ' +
  'minute mod month monthname now nth_value ntile nullif oct octet_length ord percent_rank period_add ' +
  'period_diff pi point polygon position pow power quarter quote radians rank regexp_instr regexp_like ' +
  'regexp_replace regexp_substr repeat replace reverse right round row_count row_number rpad rtrim schema ' +
  'sec_to_time second session_user sha sha1 sha2 sign sin soundex space sqrt st_area st_asbinary ' +
  'st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid st_contains st_convexhull st_crosses ' +
  'st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope ' +
  'st_equals st_geohash st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb ' +
  'st_intersection st_intersects st_isclosed st_isempty st_issimple st_isvalid st_latitude st_length ' +
  'st_longitude st_makeenvelope st_numgeometries st_numpoints st_overlaps st_pointfromtext st_pointn ' +
  'st_simplify st_srid st_startpoint st_swapxy st_symdifference st_touches st_transform st_union ' +
  'st_within st_x st_y statement_digest statement_digest_text std stddev stddev_pop stddev_samp ' +
  'str_to_date strcmp subdate substr substring substring_index subtime sum system_user tan time ' +
  'time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_days to_seconds ' +
  'trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper user utc_date ' +
  'utc_time utc_timestamp uuid_to_bin values var_pop var_samp variance version week weekday weekofyear ' +
  'weight_string year yearweek';
