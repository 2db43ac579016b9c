import type { z } from 'zod';
import { ControlDefinitionSchema } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { type FileDocument, readDocuments } from '../../../packages/documents/src/index.js';
import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { PARSE_OPTIONS } from '../../contract/input/messages.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { unknownMembers } from '../../contract/warnings/unknown-members.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { casesOf } from './case-steps.js';
import {
  type CasesDocument,
  type ControlDocument,
  casesSchema,
  controlDocumentSchema,
  KINDS,
  packSchema,
} from './file-format.js';
import type { Pack, PackCase, PackHead } from './pack.js';

/** Most controls of a pack. */
const MAX_PACK_CONTROLS = 200;
/** Most problems of a pack that are told. */
const MAX_TOLD = 20;

/** Files of a pack with problems. The message has a line for each: FILE:LINE:COLUMN: what is wrong. */
export class PackFilesError extends Error {
  constructor(problems: readonly string[]) {
    const more = problems.length - MAX_TOLD;
    super([...problems.slice(0, MAX_TOLD), ...(more > 0 ? [`and ${more} more problem(s)`] : [])].join('\n'));
    this.name = 'PackFilesError';
  }
}

/** A document and the name of its file. */
interface Placed<T> {
  readonly file: string;
  readonly document: FileDocument;
  readonly content: T;
}

/** Reads the files of one pack, in any order. */
export interface PackReader {
  /** Adds the documents of a file, whose name is for messages. */
  add(file: string, text: string): void;
  /** The pack. Throws a `PackFilesError` with the problems of all files. */
  pack(): Pack;
}

/** `folder`: the path of the pack, for messages; the last part of it is the name that the pack must have. */
export function createPackReader(
  folder: string,
  name: string,
  registry: EvaluatorRegistry,
  builtIn: boolean,
): PackReader {
  const controlSchema = controlDocumentSchema(registry);
  const problems: string[] = [];
  const heads: Placed<PackHead>[] = [];
  const controls: Placed<ControlDocument>[] = [];
  const cases: Placed<CasesDocument>[] = [];

  const tell = (
    { file, document }: Omit<Placed<unknown>, 'content'>,
    path: readonly PropertyKey[],
    message: string,
  ) => {
    const { line, column } = document.placeOf(path);
    problems.push(`${file}:${line}:${column}: ${message}`);
  };

  function readInto<T>(list: Placed<T>[], schema: z.ZodType<T>, file: string, document: FileDocument): void {
    const read = schema.safeParse(document.value, PARSE_OPTIONS);
    if (read.success) list.push({ file, document, content: read.data });
    else for (const issue of read.error.issues) tellIssue(issue, file, document);
  }

  function tellIssue(issue: z.core.$ZodIssue, file: string, document: FileDocument): void {
    if (issue.code === 'unrecognized_keys') {
      const where = issue.path.length === 0 ? '' : `${pathText(issue.path)}: `;
      for (const key of issue.keys) {
        tell({ file, document }, [...issue.path, key], `${where}there is no member ${key} here`);
      }
      return;
    }
    const where = issue.path.length === 0 ? '' : `${pathText(issue.path)}: `;
    tell({ file, document }, issue.path, `${where}${issue.message}`);
  }

  function addDocument(file: string, document: FileDocument): void {
    const kind = kindOf(document.value);
    if (kind === 'Pack') readInto(heads, packSchema, file, document);
    else if (kind === 'Cases') readInto(cases, casesSchema, file, document);
    else if (kind === 'Control') {
      readInto(controls, controlSchema, file, document);
      const data = isObject(document.value) ? (document.value.data ?? null) : null;
      const options = { spelling: 'rest', path: 'data' } as const;
      for (const { field, message } of unknownMembers(ControlDefinitionSchema, data, options)) {
        tell({ file, document }, pathParts(field), `${field}: ${message}`);
      }
    } else {
      const meant = typeof kind === 'string' ? didYouMean(kind, KINDS) : '';
      tell({ file, document }, ['kind'], `kind: must be one of: ${KINDS.join(', ')}${meant}`);
    }
  }

  function headOf(): PackHead | undefined {
    const [head, ...others] = heads;
    for (const other of others)
      tell(other, ['kind'], 'a pack has one document of the kind Pack, and this is another');
    if (head !== undefined && head.content.name !== name) {
      tell(head, ['name'], `name: must be that of the folder: ${name}`);
    }
    if (head === undefined && problems.length === 0) {
      problems.push(`${folder}/pack.yaml:1:1: there is no document of the kind Pack`);
    }
    return head?.content;
  }

  function casesByControl(keys: ReadonlySet<string>): Map<string, PackCase[]> {
    const found = new Map<string, PackCase[]>();
    for (const placed of cases) {
      const { control } = placed.content;
      if (!keys.has(control)) {
        tell(placed, ['control'], `control: the pack has no control ${control}${didYouMean(control, keys)}`);
        continue;
      }
      const own = casesOf(placed.content, (path, message) =>
        tell(placed, path, `${pathText(path)}: ${message}`),
      );
      found.set(control, [...(found.get(control) ?? []), ...own]);
    }
    return found;
  }

  return {
    add(file, text) {
      const { documents, problems: found } = readDocuments(text);
      for (const { line, column, message } of found) problems.push(`${file}:${line}:${column}: ${message}`);
      if (found.length === 0) for (const document of documents) addDocument(file, document);
    },

    pack() {
      const head = headOf();
      const byKey = new Map<string, ControlDocument>();
      for (const placed of controls) {
        const { name: key } = placed.content;
        if (byKey.has(key)) tell(placed, ['name'], `name: the pack has another control ${key}`);
        byKey.set(key, placed.content);
      }
      const found = casesByControl(new Set(byKey.keys()));
      if (problems.length === 0 && byKey.size === 0) problems.push(`${folder}:1:1: the pack has no controls`);
      if (byKey.size > MAX_PACK_CONTROLS) {
        problems.push(`${folder}:1:1: the pack has more than ${MAX_PACK_CONTROLS} controls`);
      }
      if (head === undefined || problems.length > 0) throw new PackFilesError(problems);
      const keys = [...byKey.keys()].sort();
      return {
        ...head,
        builtIn,
        controls: keys.flatMap((key) => {
          const control = byKey.get(key);
          if (control === undefined) return [];
          const { title, reason, references, data: definition } = control;
          return [{ key, title, reason, references, definition, cases: found.get(key) ?? [] }];
        }),
      };
    },
  };
}

function kindOf(value: JsonValue): JsonValue {
  return isObject(value) && Object.hasOwn(value, 'kind') ? (value.kind ?? null) : null;
}

/** `['data', 'and', 0]` → `data.and[0]`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** The other way round, for the paths of warnings. */
function pathParts(text: string): PropertyKey[] {
  return (text.match(/[^.[\]]+/g) ?? []).map((part) => (/^[0-9]+$/.test(part) ? Number(part) : part));
}
