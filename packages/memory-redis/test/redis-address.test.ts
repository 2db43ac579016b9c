import { expect, it } from 'vitest';
import { redisAddress } from '../src/redis-address.js';

it('an address names a server, a database and an account, and shows no password', () => {
  expect(redisAddress('redis://localhost')).toEqual({
    host: 'localhost',
    port: 6379,
    isTls: false,
    credentials: {},
    database: 0,
    isCluster: false,
    place: 'Redis at localhost:6379',
  });
  expect(redisAddress('rediss://service:p%40ss@[::1]:7000/2')).toEqual({
    host: '::1',
    port: 7000,
    isTls: true,
    credentials: { username: 'service', password: 'p@ss' },
    database: 2,
    isCluster: false,
    place: 'Redis at [::1]:7000/2',
  });
  expect(redisAddress('redis://one:7000?cluster=true')).toMatchObject({
    isCluster: true,
    place: 'the cluster of Redis at one:7000',
  });
});
