export {
  type FileDocument,
  type FileProblem,
  type FileReading,
  type Place,
  readDocuments,
} from './documents.js';
