export type { S3Options } from './s3-bucket.js';
export { createS3Files } from './s3-files.js';
