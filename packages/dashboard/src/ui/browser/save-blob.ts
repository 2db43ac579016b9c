/** Time after which the address of a saved file is given up; browsers read it when the download starts. */
const KEPT_MS = 60_000;

/** Saves a file by the download of the browser. */
export function saveBlob(blob: Blob, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
