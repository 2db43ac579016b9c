export { type RequestThread, type RequestThreadOptions, startRequestThread } from './request-thread.js';
export {
  ownMemory,
  SupervisedWorker,
  type SupervisionOptions,
  type WorkerEnd,
  type WorkerHandle,
} from './supervised-worker.js';
