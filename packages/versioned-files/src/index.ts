export { createFolderFiles } from './folder-files.js';
export {
  FileChangedError,
  isFileChanged,
  type VersionedFile,
  type VersionedFiles,
} from './versioned-files.js';
