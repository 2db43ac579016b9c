import { createProcessStore } from '../../../src/decide/memory/process/process-store.js';
import { type MemoryStore, MemoryStoreError } from '../../../src/decide/memory/store/memory-store.js';
import { describeMemoryStore } from './store-contract.cases.js';

describeMemoryStore('this process', async () => {
  const store = createProcessStore({ clockUs: () => Date.now() * 1_000 });
  return {
    /** Each "process" closes its connection alone. */
    connect(): MemoryStore {
      let isClosed = false;
      return {
        ...store,
        async exchange(request) {
          if (isClosed) throw new MemoryStoreError('closed');
          return store.exchange(request);
        },
        async close() {
          isClosed = true;
        },
      };
    },
    drop: () => store.close(),
  };
});
