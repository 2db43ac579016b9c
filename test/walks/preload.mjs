import { Session } from 'node:inspector/promises';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the service before its modules: counts the calls of all functions, and answers every connection to the
 * socket `COVERAGE_SOCKET` with the counts since the last one, as JSON. Threads of the service load it too; they are
 * not asked.
 */
if (isMainThread) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  net
    .createServer(async (socket) => {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      socket.end(JSON.stringify(result));
    })
    .listen(process.env.COVERAGE_SOCKET)
    .unref();
}
