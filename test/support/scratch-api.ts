import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Compiles our proto files, and scratch files by their paths beside them, to descriptors with comments. */
export async function compileProto(scratch: Readonly<Record<string, string>> = {}): Promise<FileRegistry> {
  const folder = await mkdtemp(path.join(tmpdir(), 'scratch-proto-'));
  try {
    await cp(path.join(ROOT, 'proto'), path.join(folder, 'proto'), { recursive: true });
    for (const [file, content] of Object.entries(scratch)) {
      const target = path.join(folder, 'proto', file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    }
    await cp(path.join(ROOT, 'buf.yaml'), path.join(folder, 'buf.yaml'));
    const image = path.join(folder, 'image.binpb');
    const buf = path.join(ROOT, 'node_modules', '.bin', 'buf');
    await promisify(execFile)(buf, ['build', folder, '-o', image]);
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(image)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
