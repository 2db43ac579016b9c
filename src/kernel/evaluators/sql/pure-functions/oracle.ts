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
