/** A running server of Redis or Valkey whose data are thrown away. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Without a password, also if the flags demand one. */
  readonly url: string;
  /** Folder of its data. */
  readonly folder: string;
  /** Ends the server at once, keeping data and port. */
  kill(): Promise<void>;
  /** Repairs the data of a killed server, and starts it again on the same port. */
  resume(): Promise<void>;
  /** Stops the process, which keeps its connections and answers nothing. */
  freeze(): void;
  /** Continues a frozen process. */
  thaw(): void;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Further flags, such as `--requirepass`. */
  readonly flags?: readonly string[];
}

/** The program of the server, and the environment that it needs. Throws with instructions if there is none. */
export function redisProgram(): { readonly file: string; readonly env: NodeJS.ProcessEnv };

export function startRedisServer(options?: RedisServerOptions): Promise<RedisServer>;

/** Starts a server for what stops and kills nothing; or uses the one of TEST_REDIS_URL. */
export function startRedis(): Promise<Pick<RedisServer, 'url' | 'stop'>>;
