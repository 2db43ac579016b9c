/** Does to its worker what the data say. */
export default {
  name: 'unruly',
  version: '1.2.3',
  description: 'Misbehaves on demand.',
  timeoutMs: Number(process.env.TIME_LIMIT ?? 300_000),
  configSchema: { type: 'object', properties: { words: { type: 'integer' } } },
  async evaluate(data, config, { signal }) {
    switch (data?.do) {
      case 'loop':
        for (;;);
      case 'exit':
        return process.exit(3);
      case 'be killed':
        return process.kill(process.pid, 'SIGKILL');
      case 'abort':
        return process.abort();
      case 'throw':
        throw new Error('thrown on demand');
      case 'crash later':
        setTimeout(() => {
          throw new Error('a stray error');
        }, 20);
        return { matched: true };
      case 'wait':
        return new Promise((resolve) => setTimeout(resolve, data.ms, { matched: true, message: 'waited' }));
      case 'wait for abort':
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        console.log('aborted');
        return { matched: true };
      case 'fill the heap': {
        const all = [];
        for (;;) all.push({ text: `${all.length}` });
      }
      case 'fill one array': {
        const all = [];
        for (;;) all.push(all.length);
      }
      case 'fill buffers': {
        const all = [];
        for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));
      }
      case 'print':
        for (let line = 0; line < data.lines; line += 1) console.log(`line ${line}`);
        return { matched: false };
      case 'answer':
        return data.answer;
      case 'answer much':
        return { matched: true, message: 'x'.repeat(data.length) };
      case 'tell its process':
        return { matched: true, metadata: { pid: process.pid } };
      case 'environment':
        return { matched: true, metadata: { ...process.env } };
      case 'describe data':
        return { matched: true, metadata: { type: typeof data.value, text: String(data.value), config } };
      default:
        return { matched: data === 'bad' };
    }
  },
};
