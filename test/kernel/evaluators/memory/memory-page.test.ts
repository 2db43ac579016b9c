import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../../../packages/exact-json/src/index.js';
import { inputItems } from '../../../../src/contract/input/parse-input.js';
import { findUp } from '../../../../src/contract/runtime/package-root.js';
import { createDefinitionSchema } from '../../../../src/manage/controls/definition-schema.js';
import { definitionWarnings } from '../../../../src/manage/controls/definition-warnings/definition-warnings.js';
import { serviceRegistry } from '../../../support/evaluators.js';

const PAGE = readFileSync(findUp('docs/memory.md'), 'utf8');
const CONTROLS = [...PAGE.matchAll(/```json control\n([\s\S]*?)```/g)].map(({ 1: text = '' }) => {
  const control = parseJson(text) as JsonObject;
  return { about: String(control.description), control };
});
const registry = serviceRegistry;
const schema = createDefinitionSchema(registry);

describe('the controls of docs/memory.md', () => {
  it('have one for each evaluator at least', () => {
    expect(CONTROLS.length).toBeGreaterThanOrEqual(6);
  });

  it.each(CONTROLS)('are accepted without a warning: $about', ({ control }) => {
    const { value, items } = inputItems(schema, control);
    expect(items).toEqual([]);
    if (value === undefined) throw new Error('no definition was read');
    expect(
      [...definitionWarnings(value, registry)].map(({ field, message }) => `${field}: ${message}`),
    ).toEqual([]);
  });
});
