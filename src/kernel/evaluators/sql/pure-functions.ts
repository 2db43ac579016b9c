/** Functions of PostgreSQL of which every form is immutable or stable in pg_proc. Source: manual, chapter 9. */
export const POSTGRES_FUNCTIONS =
  'abbrev abs acldefault aclexplode acos acosd acosh age any_value area array_agg array_append array_cat ' +
  'array_dims array_fill array_length array_lower array_ndims array_position array_positions ' +
  'array_prepend array_remove array_replace array_reverse array_sort array_to_json array_to_string ' +
  'array_to_tsvector array_upper ascii asin asind asinh atan atan2 atan2d atand atanh avg bit_and ' +
  'bit_count bit_length bit_or bit_xor bool bool_and bool_or bound_box box bpchar broadcast btrim bytea ' +
  'cardinality casefold cbrt ceil ceiling center char char_length character_length chr circle ' +
  'col_description concat concat_ws convert convert_from convert_to corr cos cosd cosh cot cotd count ' +
  'covar_pop covar_samp crc32 crc32c cume_dist current_database current_schema current_schemas ' +
  'current_setting date date_add date_bin date_part date_subtract date_trunc datemultirange daterange ' +
  'decode degrees dense_rank diagonal diameter div encode enum_first enum_last enum_range erf erfc every ' +
  'exp extract factorial family first_value float4 float8 floor format format_type gamma gcd ' +
  'generate_series generate_subscripts get_bit get_byte get_current_ts_config getdatabaseencoding ' +
  'has_any_column_privilege has_column_privilege has_database_privilege ' +
  'has_foreign_data_wrapper_privilege has_function_privilege has_language_privilege ' +
  'has_parameter_privilege has_schema_privilege has_sequence_privilege has_server_privilege ' +
  'has_table_privilege has_tablespace_privilege has_type_privilege height host hostmask inet_client_addr ' +
  'inet_client_port inet_merge inet_same_family inet_server_addr inet_server_port initcap int2 int4 ' +
  'int4multirange int4range int8 int8multirange int8range interval is_normalized isclosed isempty ' +
  'isfinite isopen json_agg json_agg_strict json_array_elements json_array_elements_text ' +
  'json_array_length json_build_array json_build_object json_each json_each_text json_extract_path ' +
  'json_extract_path_text json_object json_object_agg json_object_agg_strict json_object_agg_unique ' +
  'json_object_agg_unique_strict json_object_keys json_populate_record json_populate_recordset ' +
  'json_strip_nulls json_to_record json_to_recordset json_to_tsvector json_typeof jsonb_agg ' +
  'jsonb_agg_strict jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array ' +
  'jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert ' +
  'jsonb_object jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique ' +
  'jsonb_object_agg_unique_strict jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz ' +
  'jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz ' +
  'jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record ' +
  'jsonb_populate_record_valid jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax ' +
  'jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_to_tsvector jsonb_typeof justify_days ' +
  'justify_hours justify_interval lag last_value lcm lead left length lgamma like like_escape line ln log ' +
  'log10 lower lower_inc lower_inf lpad lseg ltrim macaddr8_set7bit make_date make_interval make_time ' +
  'make_timestamp make_timestamptz makeaclitem masklen max md5 min min_scale mod mode money multirange ' +
  'name netmask network normalize notlike now npoints nth_value ntile num_nonnulls num_nulls numeric ' +
  'nummultirange numnode numrange obj_description octet_length oid overlaps overlay parse_ident path ' +
  'pclose percent_rank percentile_cont percentile_disc pg_backend_pid pg_basetype pg_char_to_encoding ' +
  'pg_client_encoding pg_collation_for pg_collation_is_visible pg_column_compression pg_column_size ' +
  'pg_conversion_is_visible pg_describe_object pg_encoding_to_char pg_function_is_visible ' +
  'pg_get_constraintdef pg_get_expr pg_get_function_arguments pg_get_function_identity_arguments ' +
  'pg_get_function_result pg_get_functiondef pg_get_indexdef pg_get_keywords ' +
  'pg_get_partition_constraintdef pg_get_partkeydef pg_get_ruledef pg_get_serial_sequence ' +
  'pg_get_statisticsobjdef pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_has_role ' +
  'pg_identify_object pg_index_column_has_property pg_index_has_property pg_indexam_has_property ' +
  'pg_input_error_info pg_input_is_valid pg_opclass_is_visible pg_operator_is_visible ' +
  'pg_opfamily_is_visible pg_options_to_table pg_partition_root pg_postmaster_start_time ' +
  'pg_settings_get_flags pg_size_bytes pg_size_pretty pg_statistics_obj_is_visible pg_table_is_visible ' +
  'pg_timezone_names pg_trigger_depth pg_ts_config_is_visible pg_ts_dict_is_visible ' +
  'pg_ts_parser_is_visible pg_ts_template_is_visible pg_type_is_visible pg_typeof phraseto_tsquery pi ' +
  'plainto_tsquery point polygon popen position power querytree quote_ident quote_literal quote_nullable ' +
  'radians radius range_agg range_intersect_agg range_merge rank regexp_count regexp_instr regexp_like ' +
  'regexp_match regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr ' +
  'regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat ' +
  'replace reverse right round row_number row_security_active row_to_json rpad rtrim scale set_bit ' +
  'set_byte set_masklen setweight sha224 sha256 sha384 sha512 shobj_description sign similar_escape ' +
  'similar_to_escape sin sind sinh slope split_part sqrt starts_with statement_timestamp stddev ' +
  'stddev_pop stddev_samp string_agg string_to_array string_to_table strip strpos substr substring sum ' +
  'tan tand tanh text time timestamp timestamptz timetz timezone to_ascii to_bin to_char to_date to_hex ' +
  'to_json to_jsonb to_number to_oct to_regclass to_regcollation to_regnamespace to_regoper ' +
  'to_regoperator to_regproc to_regprocedure to_regrole to_regtype to_regtypemod to_timestamp to_tsquery ' +
  'to_tsvector transaction_timestamp translate trim_array trim_scale trunc ts_debug ts_delete ts_filter ' +
  'ts_headline ts_lexize ts_parse ts_rank ts_rank_cd ts_token_type tsmultirange tsquery_phrase tsrange ' +
  'tstzmultirange tstzrange tsvector_to_array unicode_assigned unistr unnest upper upper_inc upper_inf ' +
  'uuid_extract_timestamp uuid_extract_version var_pop var_samp varbit varchar variance version ' +
  'websearch_to_tsquery width width_bucket xml xml_is_well_formed xml_is_well_formed_content ' +
  'xml_is_well_formed_document xmlagg xmlcomment xmlconcat2 xmlexists xmltext xpath xpath_exists';

/** Its operators, none of which calls a volatile function. Source: pg_operator. */
export const POSTGRES_OPERATORS =
  '!! != !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << ' +
  '<<= <<| <= <> <@ <^ = > >= >> >>= >^ ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ' +
  '~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*';

/** Its base types, to which a cast calls nothing of a user. Source: pg_type. */
export const POSTGRES_TYPES =
  'aclitem bit bool box bpchar bytea char cid cidr circle date datemultirange daterange float4 float8 ' +
  'inet int2 int2vector int4 int4multirange int4range int8 int8multirange int8range interval json jsonb ' +
  'jsonpath line lseg macaddr macaddr8 money name numeric nummultirange numrange oid oidvector path ' +
  'pg_lsn pg_snapshot point polygon regclass regcollation regconfig regdictionary regnamespace regoper ' +
  'regoperator regproc regprocedure regrole regtype text tid time timestamp timestamptz timetz ' +
  'tsmultirange tsquery tsrange tstzmultirange tstzrange tsvector txid_snapshot uuid varbit varchar xid ' +
  'xid8 xml record';

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

/** Functions of Oracle without effects, which are called without a schema or a package. Source: SQL Language Reference, Functions. */
export const ORACLE_FUNCTIONS =
  'abs acos add_months any_value approx_count approx_count_distinct approx_median approx_percentile ' +
  'approx_rank approx_sum ascii asciistr asin atan atan2 avg bin_to_num bit_and_agg bit_or_agg ' +
  'bit_xor_agg bitand cardinality ceil chartorowid checksum chr coalesce collect compose con_id_to_name ' +
  'con_name_to_id concat convert corr corr_k corr_s cos cosh count covar_pop covar_samp cume_dist ' +
  'current_date current_timestamp dbtimezone decode decompose dense_rank dump empty_blob empty_clob exp ' +
  'extract first first_value floor from_tz greatest group_id grouping grouping_id hextoraw initcap instr ' +
  'instrb json_array json_arrayagg json_dataguide json_equal json_exists json_mergepatch json_object ' +
  'json_objectagg json_query json_scalar json_serialize json_table json_transform json_value lag last ' +
  'last_day last_value lead least length lengthb lengthc listagg ln lnnvl localtimestamp log lower lpad ' +
  'ltrim max median min mod months_between nanvl nchr new_time next_day nls_initcap nls_lower nls_upper ' +
  'nlssort nth_value ntile nullif numtodsinterval numtoyminterval nvl nvl2 ora_dst_affected ora_hash ' +
  'percent_rank percentile_cont percentile_disc power powermultiset rank ratio_to_report rawtohex ' +
  'rawtonhex regexp_count regexp_instr regexp_like regexp_replace regexp_substr regr_avgx regr_avgy ' +
  'regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy remainder replace round ' +
  'row_number rowidtochar rowidtonchar rpad rtrim sessiontimezone set sign sin sinh soundex sqrt ' +
  'standard_hash stats_binomial_test stats_crosstab stats_f_test stats_ks_test stats_mode stats_mw_test ' +
  'stats_one_way_anova stats_t_test_one stats_t_test_paired stats_wsr_test stddev stddev_pop stddev_samp ' +
  'substr substrb substrc sum sys_connect_by_path sys_context sys_extract_utc sys_typeid sysdate ' +
  'systimestamp tan tanh to_binary_double to_binary_float to_blob to_char to_clob to_date to_dsinterval ' +
  'to_lob to_multi_byte to_nchar to_nclob to_number to_single_byte to_timestamp to_timestamp_tz ' +
  'to_yminterval translate trim trunc tz_offset uid unistr upper user userenv validate_conversion var_pop ' +
  'var_samp variance vsize width_bucket xmlagg xmlcast xmlcdata xmlcolattval xmlcomment xmlconcat xmldiff ' +
  'xmlelement xmlexists xmlforest xmlisvalid xmlparse xmlpatch xmlpi xmlroot xmlserialize';

/** Functions of SQLite without effects. Source: lang_corefunc, lang_datefunc, lang_aggfunc, lang_mathfunc, windowfunctions, json1. */
export const SQLITE_FUNCTIONS =
  'abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh ' +
  'count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp ' +
  'first_value floor format generate_series glob group_concat hex if ifnull iif instr json json_array ' +
  'json_array_insert json_array_length json_each json_error_position json_extract json_group_array ' +
  'json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace ' +
  'json_set json_tree json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_each jsonb_extract ' +
  'jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace ' +
  'jsonb_set jsonb_tree julianday lag last_value lead length like likelihood likely ln log log10 log2 ' +
  'lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank percentile ' +
  'percentile_cont percentile_disc pi pow power printf quote radians rank replace round row_number rtrim ' +
  'sign sin sinh soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_source_id ' +
  'sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total trim trunc ' +
  'typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob';

/** Functions of SQL Server without effects, which are called without a schema. Source: Transact-SQL reference, Functions. */
export const TSQL_FUNCTIONS =
  'abs acos app_name approx_count_distinct approx_percentile_cont approx_percentile_disc ascii asin atan ' +
  'atn2 avg base64_decode base64_encode binary_checksum bit_count ceiling char charindex checksum ' +
  'checksum_agg choose coalesce col_length col_name columnproperty compress concat concat_ws ' +
  'connectionproperty contains convert cos cot count count_big cume_dist current_timestamp ' +
  'current_timezone current_timezone_id current_user databasepropertyex datalength date_bucket dateadd ' +
  'datediff datediff_big datefromparts datename datepart datetime2fromparts datetimefromparts ' +
  'datetimeoffsetfromparts datetrunc day db_id db_name decompress degrees dense_rank difference eomonth ' +
  'exp first_value floor format formatmessage freetext generate_series get_bit getdate getutcdate ' +
  'greatest grouping grouping_id has_perms_by_name hashbytes host_id host_name iif index_col ' +
  'indexproperty is_member is_rolemember is_srvrolemember isdate isjson isnull isnumeric json_array ' +
  'json_arrayagg json_modify json_object json_objectagg json_path_exists json_query json_value lag ' +
  'last_value lead least left left_shift len log log10 lower ltrim max min month nchar ntile nullif ' +
  'object_definition object_id object_name object_schema_name objectproperty objectpropertyex openjson ' +
  'parsename patindex percent_rank percentile_cont percentile_disc pi power quotename radians rank ' +
  'regexp_count regexp_instr regexp_like regexp_matches regexp_replace regexp_split_to_table ' +
  'regexp_substr replace replicate reverse right right_shift round row_number rtrim schema_id schema_name ' +
  'serverproperty session_user sessionproperty set_bit sign sin smalldatetimefromparts soundex space sqrt ' +
  'square stats_date stdev stdevp str string_agg string_escape string_split stuff substring sum suser_id ' +
  'suser_name suser_sid suser_sname switchoffset sysdatetime sysdatetimeoffset system_user sysutcdatetime ' +
  'tan timefromparts todatetimeoffset translate trim try_convert type_id type_name typeproperty unicode ' +
  'upper user user_id user_name var varp year';
