/** The yardstick of REST: a route of node:http that reads the body, looks at nothing, and answers prepared bytes. */
import http from 'node:http';
import { announce, urlOf } from './child-server.mjs';

/** @type {Buffer} */
let reply = Buffer.alloc(0);

const server = http.createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length });
    response.end(reply);
  });
});
server.listen(0, '127.0.0.1', () => {
  announce(urlOf(server), (bytes) => {
    reply = bytes;
  });
});
