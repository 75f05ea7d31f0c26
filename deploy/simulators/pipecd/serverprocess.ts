/** A server process of a control plane. It keeps the settings that it read at start. */
import { type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import type { Answers } from "./answers.ts";
import type { Answer, Call, Outcome } from "./call.ts";
import type { Metadata } from "./metadata.ts";
import type { Method, Service } from "./service.ts";
import { internal, ok, Panic, RpcError, unavailable } from "./status.ts";

/** Settings that a server reads at start. */
export interface Startup {
  /** Projects in the configuration file. */
  readonly projects: readonly string[];
  /** Key that signs tokens. */
  readonly encryptionKey: string | Buffer;
}

/** One process. Several may share a database, like pods during a rollout. */
export interface ServerProcess {
  readonly services: readonly Service[];
  readonly isUp: boolean;
  /** Performs a call. */
  perform(service: Service, method: Method, metadata: Metadata, body: Uint8Array): Promise<Outcome>;
  /** Ends the process; calls in flight get no response. */
  end(): void;
}

/** State shared by the processes of one control plane. */
export interface SharedState {
  readonly calls: Call[];
  readonly answers: Answers;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Starts a process with these services. */
export function openProcess(
  services: readonly Service[],
  { calls, answers, clock }: SharedState,
): ServerProcess {
  const death = Promise.withResolvers<void>();
  let isUp = true;

  function end(): void {
    isUp = false;
    death.resolve();
  }

  return {
    services,
    get isUp() {
      return isUp;
    },
    end,
    async perform(service, method, metadata, body) {
      if (!isUp) return "ended";
      const { answer, call } = handle(service, method, metadata, body, clock());
      calls.push(call);
      if (answer === undefined) end();
      const ended = death.promise.then(() => "ended" as const);
      const passed = answers.pass(call).then((passes) => (passes && answer) || "reset");
      return Promise.race([ended, passed]);
    },
  };
}

/** Decodes, authenticates, validates, and handles a call. The answer is undefined when the call crashes the process. */
function handle(
  service: Service,
  method: Method,
  metadata: Metadata,
  body: Uint8Array,
  at: number,
): { answer: Answer | undefined; call: Call } {
  const { input, output } = method;
  let project: string | undefined;
  let request: Message | undefined;
  const ended = (code: number, message: string, reply?: Uint8Array) => ({
    answer: { code, message, ...(reply && { body: reply }) },
    call: callOf(code, message),
  });
  const callOf = (code: number, message: string): Call => ({
    ...{ at, project, code, message },
    service: service.name,
    method: method.name,
    request: request && toJson(input, request),
  });
  try {
    request = decode(input, body);
    const calledBy = (of: string) => {
      project = of;
    };
    return ended(ok, "", toBinary(output, method.invoke({ metadata, request, calledBy })));
  } catch (error) {
    if (error instanceof RpcError) return ended(error.code, error.message);
    if (!(error instanceof Panic)) throw error;
    return { answer: undefined, call: callOf(unavailable, error.message) };
  }
}

function decode(schema: DescMessage, body: Uint8Array): Message {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    // The text decoder throws a TypeError.
    const problem =
      error instanceof TypeError
        ? "string field contains invalid UTF-8"
        : "proto: cannot parse invalid wire-format data";
    throw new RpcError(internal, `grpc: error unmarshalling request: ${problem}`);
  }
}
