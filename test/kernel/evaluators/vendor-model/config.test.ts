import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { errorItems } from '../../../../src/contract/input/items.js';
import { TOXIC, vendorModel } from './support.js';

const { evaluator } = vendorModel({ apiUrl: null });

function seen(config: JsonObject): [string, string | undefined][] {
  const read = evaluator.configSchema.safeParse(config, { reportInput: true });
  return read.success ? [] : errorItems(read.error).map(({ code, field }) => [code, field]);
}

describe('the configuration of vendor.model', () => {
  it.each<JsonObject>([
    TOXIC,
    { ...TOXIC, target_value: '0.5', operator: 'contains', unknown: true },
    { ...TOXIC, stage_type: 'local', timeout_ms: 1_000, on_error: 'deny', payload_field: 'output' },
    { ...TOXIC, timeout_ms: 60_000, payload_field: null, metadata: null, stage_version: null },
    { ...TOXIC, timeout_ms: '5000', stage_version: 3.0, metadata: { team: { a: [1] } } },
    { stage_type: 'central', stage_name: 'strict', stage_version: 2, vendor_project: 'mail' },
  ])('may be %j', (config) => {
    expect(seen(config)).toEqual([]);
  });
  it.each<[JsonObject, string, string | undefined]>([
    [{}, 'value_error', undefined],
    [{ metric: 'input_toxicity', operator: 'gt' }, 'value_error', undefined],
    [{ stage_type: 'central' }, 'value_error', undefined],
    [{ ...TOXIC, stage_type: 'remote' }, 'literal_error', 'stage_type'],
    [{ ...TOXIC, stage_type: null }, 'literal_error', 'stage_type'],
    [{ ...TOXIC, metric: 'input_kindness' }, 'literal_error', 'metric'],
    [{ ...TOXIC, operator: 'above' }, 'literal_error', 'operator'],
    [{ ...TOXIC, target_value: [1] }, 'value_error', 'target_value'],
    [{ ...TOXIC, stage_name: 5 }, 'string_type', 'stage_name'],
    [{ ...TOXIC, stage_version: 'two' }, 'int_parsing', 'stage_version'],
    [{ ...TOXIC, timeout_ms: 999 }, 'greater_than_equal', 'timeout_ms'],
    [{ ...TOXIC, timeout_ms: 60_001 }, 'less_than_equal', 'timeout_ms'],
    [{ ...TOXIC, timeout_ms: 1_500.5 }, 'int_from_float', 'timeout_ms'],
    [{ ...TOXIC, timeout_ms: null }, 'int_type', 'timeout_ms'],
    [{ ...TOXIC, on_error: 'ignore' }, 'literal_error', 'on_error'],
    [{ ...TOXIC, payload_field: 'both' }, 'literal_error', 'payload_field'],
    [{ ...TOXIC, metadata: 'x' }, 'dict_type', 'metadata'],
  ])('may not be %j', (config, code, field) => {
    expect(seen(config)).toEqual([[code, field]]);
  });
  it('is shown with its defaults', () => {
    expect(evaluator.configJsonSchema).toMatchObject({
      type: 'object',
      properties: {
        stage_type: { default: 'local', enum: ['local', 'central'] },
        timeout_ms: { type: 'integer', minimum: 1_000, maximum: 60_000, default: 10_000 },
        on_error: { default: 'allow' },
      },
    });
    expect(evaluator.configJsonSchema).not.toHaveProperty('required');
  });
  it('sets the time limit, of which the service allows a little more', () => {
    expect(evaluator.compile({ ...TOXIC, timeout_ms: 2_000 }).timeoutMs).toBe(2_250);
  });
});
