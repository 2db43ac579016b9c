import { LIMITS } from '../../../../gen/limits/limits.js';
import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import type { CommandContext } from '../context.js';
import { CliError } from '../errors.js';
import type { Surroundings } from '../surroundings.js';
import type { SourceDocument } from './documents-of.js';
import { type FileProblem, FilesError, problemLine } from './problems.js';
import { namesOf, readText } from './read-text.js';

/** A variable of the environment in a text. */
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Most documents of all files: a request has no more. */
const MAX_DOCUMENTS = LIMITS.ApplyConfigurationRequest.documents.max;

/** The option of commands that send what files have. */
export const EXPAND_ENV = {
  'expand-env': {
    type: 'boolean',
    default: false,
    describe: 'Replace ${NAME} in texts by the variables of the environment, and name each place',
  },
} as const;

/**
 * The documents of files and folders, in their order. Throws a `FilesError` with the problems of all files. `${NAME}` is text,
 * and a warning names each place, unless it is to be expanded.
 */
export async function readFiles(
  context: CommandContext,
  given: readonly string[],
  { expandEnv = false }: { readonly expandEnv?: boolean } = {},
): Promise<readonly SourceDocument[]> {
  const documents: SourceDocument[] = [];
  const problems: FileProblem[] = [];
  // The parser of YAML is loaded when there is something to read.
  const { documentsOf } = await import('./documents-of.js');
  for (const name of await namesOf(context.cwd, given)) {
    try {
      const { file, text } = await readText(context, name);
      documents.push(...documentsOf(file, text));
    } catch (error) {
      if (!(error instanceof FilesError)) throw error;
      problems.push(...error.problems);
    }
  }
  for (const document of documents) problems.push(...wrongNamespace(document, context.namespace));
  if (problems.length > 0) throw new FilesError(problems);
  if (documents.length > MAX_DOCUMENTS) {
    throw new CliError(`there are ${documents.length} documents; the limit is ${MAX_DOCUMENTS}`);
  }
  return expandEnv ? expanded(context, documents) : unexpanded(context, documents);
}

function wrongNamespace(document: SourceDocument, namespace: string | undefined): FileProblem[] {
  const { file, value, placeOf } = document;
  const given = value.namespace ?? null;
  if (namespace === undefined || given === null || given === namespace) return [];
  return [
    { file, ...placeOf(['namespace']), message: `namespace: must be ${namespace}, as --namespace says` },
  ];
}

async function unexpanded(
  context: CommandContext,
  documents: readonly SourceDocument[],
): Promise<readonly SourceDocument[]> {
  for (const { file, value, placeOf } of documents) {
    for (const { path, names } of namedVariables(value)) {
      const message = `warning: \${${names.join('}, ${')}} stays as it is written; --expand-env replaces it`;
      await context.warn(problemLine({ file, ...placeOf(path), message }));
    }
  }
  return documents;
}

async function expanded(
  context: CommandContext,
  documents: readonly SourceDocument[],
): Promise<readonly SourceDocument[]> {
  const problems: FileProblem[] = [];
  const done: SourceDocument[] = [];
  for (const document of documents) {
    const { file, value, placeOf } = document;
    for (const { path, names } of namedVariables(value)) {
      const at = { file, ...placeOf(path) };
      for (const name of names) {
        if (context.env[name] === undefined) {
          problems.push({ ...at, message: `the environment has no variable ${name}` });
        } else await context.warn(problemLine({ ...at, message: `\${${name}} is replaced` }));
      }
    }
    done.push({ ...document, value: expandVariables(value, context.env) });
  }
  if (problems.length > 0) throw new FilesError(problems);
  return done;
}

/** A text of a document that names variables. */
interface NamedVariables {
  readonly path: readonly PropertyKey[];
  readonly names: readonly string[];
}

/** The texts with `${NAME}`, in the order of the document. */
function* namedVariables(value: JsonValue, path: readonly PropertyKey[] = []): Generator<NamedVariables> {
  if (typeof value === 'string') {
    const names = [...value.matchAll(VARIABLE)].map(([, name = '']) => name);
    if (names.length > 0) yield { path, names: [...new Set(names)] };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* namedVariables(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) yield* namedVariables(member, [...path, name]);
  }
}

/** A document with variables in place of `${NAME}` in its texts; names of members stay. All of them exist. */
function expandVariables(value: JsonObject, env: Surroundings['env']): JsonObject {
  const text = (given: string): string => given.replaceAll(VARIABLE, (_, name: string) => env[name] ?? '');
  const expand = (given: JsonValue): JsonValue => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(expand);
    return isObject(given) ? object(given) : given;
  };
  const object = (given: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(given).map(([name, member]) => [name, expand(member)]));
  return object(value);
}
