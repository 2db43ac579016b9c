/** A server over stdio with three tools: one tells a variable and its process, one answers with a long line, one ends it. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new McpServer({ name: 'stdio-upstream', version: '1.0.0' });
  const text = (/** @type {string} */ value) => ({
    content: [{ type: /** @type {const} */ ('text'), text: value }],
  });
  const { OWN = 'none', CONTROL_ENFORCEMENT_API_KEY: key = 'none' } = process.env;
  server.registerTool('who', {}, () => text(`${OWN} ${key} ${process.pid}`));
  server.registerTool('long', {}, () => text('x'.repeat(100_000)));
  server.registerTool('bad_word', {}, () => text('fine'));
  return server;
});
