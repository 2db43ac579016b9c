export { type KafkaOptions, type KafkaProducer, startKafkaProducer } from './kafka-producer.js';
export type { Messages } from './kafka-worker.js';
