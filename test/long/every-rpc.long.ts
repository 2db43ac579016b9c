import { describeEveryRpc } from '../e2e/every-rpc.plays.js';
import { PROTOCOL_NAMES } from '../support/protocol-clients.js';

const each = PROTOCOL_NAMES.map((protocol) => [protocol]);

describeEveryRpc({ sqlite: each, postgresql: each });
