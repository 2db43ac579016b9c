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
