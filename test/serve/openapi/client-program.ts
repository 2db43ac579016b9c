import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateApi } from 'swagger-typescript-api';
import type { OpenApiDocument } from '../../support/openapi-document.js';

const TSC = path.resolve(import.meta.dirname, '../../../node_modules/.bin/tsc');

/** As a careful user sets it. Node's own types are not needed: the client is made for browsers as well. */
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    strict: true,
    noUncheckedIndexedAccess: true,
    types: [],
    rootDir: '.',
    outDir: 'out',
  },
  include: ['*.ts'],
};

/** Programs of the folder `programs`, by name, compiled against a generated client. */
export interface ClientPrograms<Run> {
  readonly run: Readonly<Record<string, Run>>;
  remove(): Promise<void>;
}

/**
 * Generates a TypeScript client from a document, as a user of the service would, and compiles programs against it.
 * Throws with what the compiler says.
 */
export async function compileClientPrograms<Run>(
  document: OpenApiDocument,
  names: readonly string[],
): Promise<ClientPrograms<Run>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'generated-client-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    await writeFile(path.join(folder, 'client.ts'), await generateClient(document));
    for (const name of names) await cp(sourceOf(name), path.join(folder, `${name}.ts`));
    await promisify(execFile)(TSC, ['-p', folder]).catch((failure: { stdout?: string }) => {
      throw new Error(`a program does not compile:\n${failure.stdout}`);
    });
    const programs = await Promise.all(
      names.map(async (name): Promise<[string, Run]> => {
        const compiled = pathToFileURL(path.join(folder, 'out', `${name}.js`)).href;
        return [name, ((await import(/* @vite-ignore */ compiled)) as { run: Run }).run];
      }),
    );
    return { run: Object.fromEntries(programs), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function generateClient(document: OpenApiDocument): Promise<string> {
  // The generator changes what it is given.
  const spec = structuredClone(document) as never;
  const { files } = await generateApi({
    spec,
    output: false,
    httpClientType: 'fetch',
    silent: true,
    // It takes what follows a colon for a parameter, which OpenAPI does not: the colon is escaped in its template texts.
    hooks: { onPreBuildRoutePath: (route) => route.replaceAll(':', '\\x3a') },
  });
  const [client] = files;
  if (client === undefined) throw new Error('the generator made no file');
  return client.fileContent;
}

/** Not named as TypeScript: there is no client beside it where it is kept. */
function sourceOf(name: string): string {
  return path.join(import.meta.dirname, 'programs', `${name}.ts.txt`);
}
