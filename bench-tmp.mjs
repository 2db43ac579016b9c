import { createClickHouseEventStore } from './dist/src/events/clickhouse/clickhouse-event-store.js';
import { openDatabase } from './dist/src/database/database.js';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
rmSync('/tmp/bench-db', {recursive:true, force:true});
const { mkdirSync } = await import('node:fs'); mkdirSync('/tmp/bench-db');
const database = await openDatabase({ url: 'file:/tmp/bench-db/a.db' });
const store = createClickHouseEventStore({ location: { url: process.argv[2] ?? 'http://127.0.0.1:31888', username:'default', password:'', database:'b'+Date.now(), isReplicated:false }, database, now: () => Date.now() });
const N = Number(process.argv[3] ?? 20000), B = Number(process.argv[4] ?? 10);
const spreadMs = Number(process.argv[5] ?? 3600_000);
const event = (i) => { const ms = Date.now() - Math.floor(Math.random()*spreadMs); return { origin:'client', control_execution_id: randomUUID(), trace_id: randomUUID().replaceAll('-',''), span_id: randomUUID().slice(0,16), agent_name: 'agent-'+(i%50), control_id: i%40, control_name: 'control-'+(i%40), check_stage:'pre', applies_to:'tool_call', action: ['deny','steer','observe'][i%3], matched: i%4!==0, confidence: Math.random(), timestamp: { us: BigInt(ms)*1000n, text: new Date(ms).toISOString() }, execution_duration_ms: i%2? Math.random()*50: null, evaluator_name:'regex', selector_path:'input.text', error_message:null, metadata:{a:1}, step_type:'tool', step_name:'send_mail', session_id:'session-'+(i>>5), step_id:null, revision:17, decision_id: randomUUID() }; };
await store.write([store.encode(event(0))]);
for (let r=0;r<3;r++){ const t=performance.now(); await store.write([store.encode(event(r))]); console.log('single', (performance.now()-t).toFixed(1)); }
let enc=0, cpu0; let total=0; const T0=performance.now(); const c0=process.cpuUsage();
for (let b=0;b<B;b++) {
  const events = Array.from({length:N}, (_, i) => event(b*N+i));
  let t=performance.now(); const encoded = events.map(store.encode); enc += performance.now()-t;
  const cc = process.cpuUsage(); t=performance.now(); await store.write(encoded); const d=performance.now()-t; total+=d; const c=process.cpuUsage(cc);
  if (b%Math.ceil(B/10)===0) console.log('batch', b, d.toFixed(0)+'ms', 'cpu/event us', ((c.user+c.system)/N).toFixed(2));
}
console.log('encode us/event', (enc*1000/N/B).toFixed(2), 'write events/s', Math.round(N*B/total*1000));
await store.close(); await database.close();
