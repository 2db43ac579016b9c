import { saveBlob } from '../ui/browser/save-blob.js';
import type { ExportSink } from './export-events.js';

const MIME_TYPE = 'application/x-ndjson';
/** Most bytes of a file that is collected in memory before it is saved. */
export const MAX_COLLECTED_BYTES = 256 * 1024 * 1024;

/** The part of the File System Access API that is used; not all browsers have it. */
interface FilePicker {
  showSaveFilePicker?: (options: object) => Promise<FileSystemFileHandle>;
}

/** Whether files are written as they arrive, without a limit on their size. */
export function canStreamToFile(): boolean {
  return (window as FilePicker).showSaveFilePicker !== undefined;
}

/**
 * Saves what `write` writes: all of it, or no file. Fulfilled with false if the viewer chose no file, who is asked
 * first, because browsers show the question only in answer to a click.
 */
export async function saveToFile(
  fileName: string,
  write: (sink: ExportSink) => Promise<void>,
): Promise<boolean> {
  const sink = await openSink(fileName);
  if (sink === null) return false;
  try {
    await write(sink);
    await sink.finish();
    return true;
  } catch (error) {
    await sink.discard().catch(() => undefined);
    throw error;
  }
}

/** Asks the viewer for a file where the browser can; otherwise collects the bytes. Null if the viewer chose none. */
async function openSink(fileName: string): Promise<ExportSink | null> {
  const picker = window as FilePicker;
  if (picker.showSaveFilePicker === undefined) return collectingSink(fileName, MAX_COLLECTED_BYTES);
  try {
    const handle = await picker.showSaveFilePicker({
      suggestedName: fileName,
      types: [{ description: 'Lines of JSON', accept: { [MIME_TYPE]: ['.ndjson'] } }],
    });
    return fileSink(await handle.createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
}

function fileSink(file: FileSystemWritableFileStream): ExportSink {
  return {
    write: (bytes) => file.write(bytes),
    finish: () => file.close(),
    discard: () => file.abort(),
  };
}

function collectingSink(fileName: string, maxBytes: number): ExportSink {
  let pieces: Blob[] = [];
  let size = 0;
  return {
    async write(bytes) {
      size += bytes.length;
      if (size > maxBytes) {
        throw new Error(
          `This browser collects a file in memory before it saves it, at most ${maxBytes / 2 ** 20} MiB. ` +
            'Narrow the filters, or use a browser that can write to a file.',
        );
      }
      pieces.push(new Blob([bytes]));
    },
    async finish() {
      saveBlob(new Blob(pieces, { type: MIME_TYPE }), fileName);
      pieces = [];
    },
    async discard() {
      pieces = [];
    },
  };
}
