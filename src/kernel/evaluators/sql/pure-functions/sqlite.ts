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
