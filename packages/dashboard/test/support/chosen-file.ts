import { onTestFinished } from 'vitest';

/** Has a file chosen for what is saved. Returns what was written to it. */
export function chooseFile(): { readonly text: () => string } {
  const pieces: Uint8Array[] = [];
  const writable = { write: (bytes: Uint8Array) => pieces.push(bytes), close: () => undefined };
  Object.assign(window, { showSaveFilePicker: async () => ({ createWritable: async () => writable }) });
  onTestFinished(() => void Reflect.deleteProperty(window, 'showSaveFilePicker'));
  return { text: () => pieces.map((piece) => new TextDecoder().decode(piece)).join('') };
}

/** Takes what the page has the browser download. Returns the text of the last file. */
export function takeDownloads(): { readonly text: () => Promise<string> } {
  const files: Blob[] = [];
  const { createObjectURL } = URL;
  URL.createObjectURL = (file: Blob) => {
    files.push(file);
    return '#';
  };
  onTestFinished(() => void Object.assign(URL, { createObjectURL }));
  return { text: async () => (await files.at(-1)?.text()) ?? '' };
}
