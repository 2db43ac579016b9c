import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogOutput } from '../../../src/app/process/log-output.js';
import { until } from '../../support/until.js';

/** A stream that takes lines only when it is told to. */
function gatedStream() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      waiting.push(() => {
        taken.push(line);
        done();
      });
    },
  });
  return {
    stream,
    taken,
    /** Takes everything that waits. */
    async take(): Promise<void> {
      while (waiting.length > 0) {
        waiting.shift()?.();
        await new Promise(setImmediate);
      }
    },
  };
}

const LINE = `${'x'.repeat(1023)}\n`;

describe('a log whose reader is slow', () => {
  it('keeps a bounded number of lines, drops the others, and logs how many when it reads on', async () => {
    const told: number[] = [];
    const { stream, taken, take } = gatedStream();
    const output = createLogOutput(stream, (dropped) => told.push(dropped));
    for (let count = 0; count < 3_000; count += 1) output.write(LINE);
    expect(stream.writableLength).toBe(1024 * 1024);
    expect(output.dropped).toBe(3_000 - 1_024);
    await take();
    expect(taken).toHaveLength(1_024);
    expect(told).toEqual([3_000 - 1_024]);
    expect(output.dropped).toBe(0);
    output.write(LINE);
    await take();
    expect(taken).toHaveLength(1_025);
    expect(told).toHaveLength(1);
  });

  it('is waited for before the process exits, but not forever', async () => {
    const { stream, take } = gatedStream();
    const output = createLogOutput(stream, () => {});
    await output.flushed(60_000);
    output.write(LINE);
    await output.flushed(5);
    expect(stream.writableLength).toBe(LINE.length);
    const flushed = output.flushed(60_000);
    await take();
    await flushed;
  });
});

describe('a log that cannot be written', () => {
  it('is tried again after a while, no sooner', () => {
    let time = 0;
    let failure: Error | null = new Error('no space');
    const tried: string[] = [];
    const told: number[] = [];
    const stream = {
      writableLength: 0,
      on: () => {},
      write(line: string, written: (error: Error | null) => void) {
        tried.push(line);
        written(failure);
        return true;
      },
    };
    const output = createLogOutput(
      stream,
      (dropped) => told.push(dropped),
      () => time,
    );
    output.write('first\n');
    time = 999;
    output.write('second\n');
    expect([tried, output.dropped]).toEqual([['first\n'], 2]);
    time = 1_000;
    failure = null;
    output.write('third\n');
    expect(tried).toEqual(['first\n', 'third\n']);
    expect([told, output.dropped]).toEqual([[2], 0]);
  });

  it('does not throw when the stream does', () => {
    const output = createLogOutput(
      {
        writableLength: 0,
        on: () => {},
        write() {
          throw new Error('the disk is full');
        },
      },
      () => {},
    );
    output.write('lost\n');
    expect(output.dropped).toBe(1);
  });
});

let directory = '';
afterEach(() => {
  if (directory !== '') rmSync(directory, { recursive: true });
  directory = '';
});

it('lines that a real pipe does not take wait, and arrive when it is read', async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'log-output-'));
  const fifo = path.join(directory, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Opened for both, so that it neither waits for a reader nor fails for want of one.
  const stream = new net.Socket({ fd: openSync(fifo, 'r+'), readable: false, writable: true });
  const output = createLogOutput(stream, () => {});
  for (let count = 0; count < 200; count += 1) output.write(LINE);
  expect(stream.writableLength).toBeGreaterThan(100 * 1024);
  const reader = await open(fifo, 'r');
  let read = 0;
  await until(
    async () => {
      read += (await reader.read(Buffer.alloc(65_536))).bytesRead;
      return read;
    },
    (bytes) => bytes === 200 * LINE.length,
  );
  await output.flushed(10_000);
  expect(stream.writableLength).toBe(0);
  await reader.close();
  stream.destroy();
});
