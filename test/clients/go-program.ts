import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Where Debian installs the sources of Go packages. */
const LIBRARIES = '/usr/share/gocode';
const exec = promisify(execFile);

/** What a test is called that does not run. */
export const NO_GO = 'is not compiled, because Go and its generators are not here (see docs/languages.md)';

/** The folder of the sources of gRPC for Go; undefined unless they, Go and its generators are installed. */
export function readGo(): string | undefined {
  const programs = ['go', 'protoc-gen-go', 'protoc-gen-go-grpc'];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const isThere = (program: string): boolean => folders.some((one) => existsSync(path.join(one, program)));
  // Packages of version 1.3 of github.com/golang/protobuf, which have no such file, cannot write these messages.
  const sources = ['google.golang.org/grpc/clientconn.go', 'github.com/golang/protobuf/proto/proto.go'];
  const areThere = sources.every((one) => existsSync(path.join(LIBRARIES, 'src', one)));
  return programs.every(isThere) && areThere ? LIBRARIES : undefined;
}

export async function run(program: string, words: readonly string[], env: Record<string, string> = {}) {
  const { stdout } = await exec(program, words, { cwd: ROOT, env: { ...process.env, ...env } });
  return { output: stdout };
}

/** Generates the package as docs/languages.md says, and builds the program that uses it. */
export async function buildGo(libraries: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'go-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const plugins = ['protoc-gen-go', 'protoc-gen-go-grpc'].map((local) => ({
    local,
    out: path.join(folder, 'src'),
  }));
  const template = JSON.stringify({ version: 'v2', plugins });
  const buf = path.join(ROOT, 'node_modules/.bin/buf');
  const filter = ['--path', 'proto/enforcement', '--exclude-type', 'buf.validate.**'];
  await run(buf, ['generate', '--template', template, ...filter]);
  mkdirSync(path.join(folder, 'src/program'));
  copyFileSync(path.join(import.meta.dirname, 'go/main.go'), path.join(folder, 'src/program/main.go'));
  const program = path.join(folder, 'go-program');
  // Packages are found by their folders, without modules: these would come from the network.
  const env = { GO111MODULE: 'off', GOPATH: `${folder}:${libraries}`, GOFLAGS: '' };
  await run('go', ['build', '-o', program, 'program'], env);
  return program;
}
