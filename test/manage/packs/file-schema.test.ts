import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { readDocuments } from '../../../packages/documents/src/index.js';
import { inPackage } from '../../../src/contract/runtime/package-root.js';
import { packFilesSchema } from '../../../src/manage/packs/file-schema.js';

const SAMPLES = path.join(import.meta.dirname, '..', '..', 'fixtures', 'packs', 'samples');
const documentsOf = (text: string) => readDocuments(text).documents.map(({ value }) => value);
const validate = new Ajv2020({ strict: false }).compile(packFilesSchema());

it('docs/packs.schema.json is the schema of the files of packs; vitest run test/manage/packs --update writes it', async () => {
  await expect(`${JSON.stringify(packFilesSchema(), null, 2)}\n`).toMatchFileSnapshot(
    inPackage('docs/packs.schema.json'),
  );
});

it('the schema accepts every document of the samples, and of docs/packs.md', () => {
  const files = [
    'pack.yaml',
    'controls/secret-words.yaml',
    'controls/shell-removal.yaml',
    'cases/shell-removal.json',
  ];
  const guide = readFileSync(inPackage('docs/packs.md'), 'utf8');
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(guide) ?? [];
  const texts = [...files.map((file) => readFileSync(path.join(SAMPLES, file), 'utf8')), example];
  const documents = texts.flatMap(documentsOf);
  expect(documents).toHaveLength(8);
  for (const document of documents) {
    expect({ valid: validate(document), errors: validate.errors }).toEqual({ valid: true, errors: null });
  }
});

it.each([
  ['an unknown kind', 'kind: Contol\n'],
  ['a version that is none', 'kind: Pack\nname: a\nversion: "1"\ntitle: A\ndescription: A\n'],
  ['an unknown member', 'kind: Cases\ncontrol: a\nmatching: []\nother: []\nothers: []\n'],
  ['a control without a definition', 'kind: Control\nname: a\ntitle: A\nreason: A\n'],
])('the schema refuses %s', (_, text) => {
  expect(documentsOf(text).map((document) => validate(document))).toEqual([false]);
});
