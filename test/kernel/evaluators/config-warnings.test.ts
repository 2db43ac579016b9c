import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { ConfigUse } from '../../../src/kernel/core/evaluator.js';
import { configPath, undeclaredMembers } from '../../../src/kernel/evaluators/config/config-members.js';
import { FULL_CALL } from '../../support/check-call.js';
import { serviceRegistry } from '../../support/evaluators.js';

const registry = serviceRegistry;

/** Everything there is to say about a configuration, as `path code: message`. */
function warningsFor(name: string, config: JsonObject, use: Partial<ConfigUse> = {}): string[] {
  const evaluator = registry.get(name);
  if (evaluator === undefined) throw new Error(`there is no evaluator ${name}`);
  expect(evaluator.configSchema.safeParse(config).success).toBe(true);
  const own =
    evaluator.warningsFor?.(config, { selectorPath: 'input', positive: true, beforeSteps: false, ...use }) ??
    [];
  const all = [...undeclaredMembers(config, evaluator.configJsonSchema), ...own];
  return all.map(({ path, code, message }) => `${configPath('config', path)} ${code}: ${message}`);
}

describe('a regex configuration', () => {
  it('has no warnings as it should be', () => {
    for (const flags of [['I'], ['ignorecase'], [], null]) {
      expect(warningsFor('regex', { pattern: '\\b\\d{16}\\b', flags })).toEqual([]);
    }
  });

  it('has a warning for members and flags that have no effect', () => {
    expect(warningsFor('regex', { pattern: 'x', flag: ['I'], Pattern: 'y' })).toEqual([
      'config.flag unknown_member: unknown member; did you mean flags?',
      'config.Pattern unknown_member: unknown member; did you mean pattern?',
    ]);
    expect(
      warningsFor('regex', { pattern: 'x', flags: ['I', 'MULTILINE', 's', 'IGNORE_CASE', 'what'] }),
    ).toEqual([
      'config.flags[1] unknown_value: the flag "MULTILINE" has no effect: only IGNORECASE and I are known; write (?m) at the beginning of the pattern',
      'config.flags[2] unknown_value: the flag "s" has no effect: only IGNORECASE and I are known; write (?s) at the beginning of the pattern',
      'config.flags[3] unknown_value: the flag "IGNORE_CASE" has no effect: only IGNORECASE and I are known; did you mean IGNORECASE?',
      'config.flags[4] unknown_value: the flag "what" has no effect: only IGNORECASE and I are known',
    ]);
  });

  it('has a warning for a pattern that is found nowhere', () => {
    expect(warningsFor('regex', { pattern: 'a^b' })).toEqual([
      'config.pattern never_matches: the pattern is found in no text',
    ]);
  });
});

describe('a list configuration', () => {
  it('has no warnings as it should be', () => {
    for (const match_mode of ['exact', 'contains', 'starts_with', 'ends_with']) {
      expect(warningsFor('list', { values: ['admin', 5, 'two words'], match_mode })).toEqual([]);
    }
    expect(warningsFor('list', { values: ['sudo '], match_mode: 'starts_with' })).toEqual([]);
  });

  it('has a warning for an empty list', () => {
    expect(warningsFor('list', { values: [], match_on: 'no_match' })).toEqual([
      'config.values never_matches: an empty list matches nothing',
    ]);
  });

  it('has a warning that no_match does not match what is not there, unless that is what it is for', () => {
    const config = { values: ['admin'], match_on: 'no_match' };
    expect(warningsFor('list', config)).toEqual([
      'config.match_on absent_data: no_match does not match null, missing data or []; to match those too, ' +
        'write {"not": …} around the same check with match_on "match"',
    ]);
    expect(warningsFor('list', config, { positive: false })).toEqual([]);
  });

  it('has a warning for blanks around values that are compared exactly', () => {
    expect(warningsFor('list', { values: ['admin', 'root ', '\tguest'] })).toEqual([
      'config.values[1] surrounding_blanks: "root " has blanks around it, and data are compared exactly',
      'config.values[2] surrounding_blanks: "\\tguest" has blanks around it, and data are compared exactly',
    ]);
  });

  it('has a warning for values that contains finds only inside of words', () => {
    expect(
      warningsFor('list', { values: ['/etc/passwd', 'c++', 'café', '"x"'], match_mode: 'contains' }),
    ).toEqual(
      [
        ['/etc/passwd', 0, 'before'],
        ['c++', 1, 'behind'],
        ['café', 2, 'behind'],
        ['\\"x\\"', 3, 'before and behind'],
      ].map(
        ([value, index, sides]) =>
          `config.values[${index}] word_boundary: "${value}" is found only with a letter of a-z, a digit or "_" ` +
          `directly ${sides} it; use a regex to find it anywhere`,
      ),
    );
  });

  it('has a correct warning: each of these values is not found as a word of its own', () => {
    for (const value of ['/etc/passwd', 'c++', 'café']) {
      const compiled = registry.get('list')?.compile({ values: [value], match_mode: 'contains' });
      expect(compiled?.evaluate(`use ${value} now`, FULL_CALL)).toMatchObject({ matched: false });
    }
  });
});

describe('a json configuration', () => {
  it('has no warnings as it should be', () => {
    const config = {
      required_fields: ['a'],
      allow_null_required: true,
      field_types: { a: 'string' },
      allow_extra_fields: false,
      field_constraints: { a: { enum: ['x'], min_length: 1 } },
      case_sensitive_enums: false,
      field_patterns: { a: 'x', b: { pattern: 'y', flags: ['IGNORECASE'] } },
      pattern_match_logic: 'any',
      json_schema: { type: 'object', anything: { goes: 'here' } },
    };
    expect(warningsFor('json', config)).toEqual([]);
  });

  it('has a warning for options without the checks they are for', () => {
    const options = {
      allow_extra_fields: 'no',
      allow_null_required: 1,
      case_sensitive_enums: false,
      pattern_match_logic: 'any',
    };
    expect(warningsFor('json', { json_schema: { type: 'object' }, ...options })).toEqual([
      'config.allow_extra_fields no_effect: has no effect without field_types',
      'config.allow_null_required no_effect: has no effect without required_fields',
      'config.case_sensitive_enums no_effect: has no effect without an enum in field_constraints',
      'config.pattern_match_logic no_effect: has no effect without field_patterns',
    ]);
  });

  it('has a warning for members below fields, whatever the fields are called', () => {
    const config = {
      field_constraints: { 'a.b': { min: 1, maximum: 2 } },
      field_patterns: { c: { pattern: 'x', flag: ['IGNORECASE'] } },
    };
    expect(warningsFor('json', config)).toEqual([
      'config.field_constraints.a.b.maximum unknown_member: unknown member',
      'config.field_patterns.c.flag unknown_member: unknown member; did you mean flags?',
    ]);
  });

  it('has a warning for patterns that nothing satisfies', () => {
    const field_patterns = { a: 'x$y', b: { pattern: '(?i)a^b' }, c: 'x' };
    expect(warningsFor('json', { field_patterns })).toEqual([
      'config.field_patterns.a never_matches: the pattern is found in no text, so no data can satisfy it',
      'config.field_patterns.b never_matches: the pattern is found in no text, so no data can satisfy it',
    ]);
  });
});

describe('an sql configuration', () => {
  it('has no warnings as it should be', () => {
    const config = {
      blocked_operations: ['drop', 'KILL', 'EXPLAIN', 'Call'],
      block_ddl: true,
      blocked_tables: ['users'],
      allowed_schemas: ['public'],
      required_columns: ['id', 't.id'],
      column_presence_logic: 'all',
      column_context: 'where',
      max_joins: 1,
      case_sensitive: true,
    };
    expect(warningsFor('sql', config)).toEqual([]);
    expect(
      warningsFor('sql', { required_column_values: { tenant: 'tenant' } }, { selectorPath: '*' }),
    ).toEqual([]);
  });

  it('has a warning when it checks nothing', () => {
    expect(warningsFor('sql', { dialect: 'mysql', blocked_tables: [] })).toEqual([
      'config no_effect: no check is configured, so no query matches',
    ]);
  });

  it('has a warning for operations that do not exist', () => {
    expect(warningsFor('sql', { blocked_operations: ['DROPP', 'DROP TABLE', 'delet'] })).toEqual([
      'config.blocked_operations[0] unknown_value: there is no operation "DROPP"; did you mean DROP?',
      'config.blocked_operations[1] unknown_value: "DROP TABLE" is no operation: operations are single words; did you mean DROP?',
      'config.blocked_operations[2] unknown_value: there is no operation "delet"; did you mean DELETE?',
    ]);
  });

  it('has a warning for names that no table can have', () => {
    expect(warningsFor('sql', { blocked_tables: ['public.users', '"users"', ' users'] })).toEqual([
      'config.blocked_tables[0] never_matches: "public.users" is compared with names without the part before the dot',
      'config.blocked_tables[1] never_matches: "\\"users\\"" is compared with names without their quotes',
      'config.blocked_tables[2] surrounding_blanks: " users" has blanks around it, and names are compared exactly',
    ]);
  });

  it('has a warning for options that have no effect', () => {
    const config = { max_joins: 0, max_subquery_depth: 0, max_union_count: 0, column_context: 'select' };
    expect(warningsFor('sql', { ...config, block_ddl: true })).toEqual([
      'config.max_subquery_depth no_effect: 0 switches the check off; it does not mean none',
      'config.max_joins no_effect: 0 switches the check off; it does not mean none',
      'config.max_union_count no_effect: 0 switches the check off; it does not mean none',
      'config.column_context no_effect: has no effect without required_columns',
    ]);
  });

  it('has a warning that a context which is selected with the query is written by the agent', () => {
    const config = { required_column_values: { tenant: 'tenant' } };
    expect(warningsFor('sql', config, { selectorPath: 'input' })).toEqual([
      'config.required_column_values context_from_data: with the selector "input" the context is a member of the ' +
        'selected data, which the agent itself writes; use the selector "*"',
    ]);
  });
});

describe('members that the schema of a custom evaluator does not declare', () => {
  const fields = (config: JsonObject, schema: JsonObject) =>
    [...undeclaredMembers(config, schema)].map(({ path }) => configPath('config', path));
  const properties = { level: { type: 'string' } };

  it('are reported where the schema declares members', () => {
    expect(fields({ level: 'x', levle: 'y' }, { type: 'object', properties })).toEqual(['config.levle']);
  });

  it.each<[string, JsonObject]>([
    ['declares none', { type: 'object' }],
    ['is empty', {}],
    ['allows others on purpose', { type: 'object', properties, additionalProperties: true }],
    ['has patterns for names', { type: 'object', properties, patternProperties: { '^x': {} } }],
    ['has conditions', { type: 'object', properties, if: {}, else: {} }],
    ['refers to what is not there', { $ref: '#/$defs/Nothing' }],
    ['refers to itself', { $ref: '#' }],
    ['has an alternative that allows anything', { anyOf: [{ type: 'object', properties }, {}] }],
  ])('are not reported where it %s', (_, schema) => {
    expect(fields({ level: 'x', levle: { deep: 1 } }, schema)).toEqual([]);
  });

  it('are those that no alternative declares', () => {
    const schema = { oneOf: [{ properties }, { properties: { limit: {} } }, { type: 'null' }] };
    expect(fields({ level: 1, limit: 1, other: 1 }, schema)).toEqual(['config.other']);
  });

  it('are found behind references, in lists and below names that are free', () => {
    const schema = {
      type: 'object',
      properties: {
        rules: { type: ['array', 'null'], items: { $ref: '#/$defs/A~1Rule' } },
        named: { type: 'object', additionalProperties: { $ref: '#/$defs/A~1Rule' } },
      },
      $defs: { 'A/Rule': { type: 'object', properties } },
    };
    const config = { rules: [{ level: 1 }, { levle: 1 }], named: { any: { nope: 1 } } };
    expect(fields(config, schema)).toEqual(['config.rules[1].levle', 'config.named.any.nope']);
  });
});

describe('a configuration of an evaluator with memory', () => {
  const whole = { selectorPath: '*' };
  const budget = { limit: 5, window: { life: true }, key: ['agent'] };

  it('has no warnings as it should be', () => {
    expect(warningsFor('rate', { limit: 1, period: '1h', key: ['session', 'input.to'] }, whole)).toEqual([]);
    expect(warningsFor('budget', { ...budget, settle: 'output.cost', expires: '5m' }, whole)).toEqual([]);
    expect(warningsFor('concurrency', { limit: 1, key: ['namespace'] }, whole)).toEqual([]);
    expect(warningsFor('loop', { repeat: 3, within: { last: 10 } }, whole)).toEqual([]);
  });

  it('has a warning for members that are not known, at any depth', () => {
    expect(warningsFor('rate', { limit: 1, period: '1h', key: ['agent'], brust: 5 }, whole)).toEqual([
      'config.brust unknown_member: unknown member; did you mean burst?',
    ]);
    expect(warningsFor('budget', { ...budget, window: { life: true, rollin: '1h' } }, whole)).toEqual([
      'config.window.rollin unknown_member: unknown member; did you mean rolling?',
    ]);
  });

  it('has a warning for a selector, because the whole step is read', () => {
    expect(
      warningsFor('rate', { limit: 1, period: '1h', key: ['agent'] }, { selectorPath: 'input.to' }),
    ).toEqual([
      'config no_effect: the selector has no effect: rate reads the whole step, so write the path *',
    ]);
  });

  it('has a warning for parts of a key that change nothing', () => {
    const key = ['session', 'agent', 'namespace', 'session'];
    expect(warningsFor('rate', { limit: 1, period: '1h', key }, whole)).toEqual([
      'config.key[1] no_effect: has no effect: session includes it',
      'config.key[2] no_effect: has no effect: session includes it',
      'config.key[3] no_effect: is listed before',
    ]);
    expect(warningsFor('rate', { limit: 1, period: '1h', key: ['namespace', 'name'] }, whole)).toEqual([
      'config.key[0] no_effect: has no effect: every key is within a namespace',
    ]);
  });

  it('has a warning for a normalization of a key without texts', () => {
    const rate = { limit: 1, period: '1h', normalize: 'nfkc_case_fold' };
    expect(warningsFor('rate', { ...rate, key: ['agent'] }, whole)).toEqual([
      'config.normalize no_effect: has no effect: the key has neither a session nor a path, whose texts it is about',
    ]);
    expect(warningsFor('rate', { ...rate, key: ['agent', 'input.to'] }, whole)).toEqual([]);
    expect(warningsFor('rate', { ...rate, key: ['session'] }, whole)).toEqual([]);
  });

  it('has a warning for options without the one they are for', () => {
    const window = { life: true, time_zone: 'Europe/Berlin' };
    expect(warningsFor('budget', { ...budget, window, expires: '5m', on_expiry: 'release' }, whole)).toEqual([
      'config.window.time_zone no_effect: has no effect without calendar',
      'config.expires no_effect: has no effect without settle',
      'config.on_expiry no_effect: has no effect without settle',
    ]);
    expect(warningsFor('budget', { ...budget, window: { rolling: '1h', idle: '5m' } }, whole)).toEqual([
      'config.window.idle no_effect: has no effect without "life": true',
    ]);
    const loop = { pattern: 'error', by: 'input', repeat: 3, within: { last: 10 }, count_denied: false };
    expect(warningsFor('loop', loop, whole)).toEqual([
      'config.by no_effect: has no effect with the pattern error',
      'config.count_denied no_effect: has no effect with the pattern error',
    ]);
  });
});
