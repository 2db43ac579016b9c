import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { SPAN_NAMES } from '../../../src/contract/telemetry/attribute-names.js';

it('the page about telemetry describes every attribute of spans, and no other', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/telemetry.md'), 'utf8');
  const section = page.slice(page.indexOf('| Attribute |'), page.indexOf('The contents of steps'));
  const described = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, name = '']) =>
    name.replaceAll('`', ''),
  );
  const { span, ...attributes } = SPAN_NAMES;
  expect(described.sort()).toEqual(Object.values(attributes).sort());
  expect(section).toContain(`\`${span}\``);
});
