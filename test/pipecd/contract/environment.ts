/** The contract's environment: a target and typed calls to it. */
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll } from "vitest";
import { PipedService } from "../../../deploy/simulators/pipecd/generated/c/pipedservice_pb.ts";
import { PipedService as PipedServiceL0 } from "../../../deploy/simulators/pipecd/generated/l0/pipedservice_pb.ts";
import type { Metadata } from "../../../deploy/simulators/pipecd/metadata.ts";
import type { GeneratedService, Port } from "../../../deploy/simulators/pipecd/service.ts";
import { APIService } from "../../../functions/pipecd/api/generated/c/apiservice_pb.ts";
import { WebService } from "../../../functions/pipecd/api/generated/c/webservice_pb.ts";
import { WebService as WebServiceL0 } from "../../../functions/pipecd/api/generated/l0/webservice_pb.ts";
import { projectNames, type Reply } from "./rows.ts";
import type { Target } from "./target.ts";
import { bearer, keyHolder, type TokenOptions } from "./tokens.ts";
import { openWire, type Wire } from "./wire.ts";

type Input<S extends GeneratedService, M extends keyof S["method"]> = MessageInitShape<
  S["method"][M]["input"]
>;
type Output<S extends GeneratedService, M extends keyof S["method"]> = S["method"][M]["output"];

/** Calls a method of one service; by default as an administrator of the project. */
type Caller<S extends GeneratedService, As extends readonly unknown[]> = <
  M extends keyof S["method"] & string,
>(
  method: M,
  request: Input<S, M>,
  ...as: As
) => Promise<Reply<Output<S, M>>>;

/** The environment of rows. */
export interface Environment<T extends Target> {
  /** Available once tests run. */
  readonly target: T;
  /** Metadata of an administrator of the project; `options` override the token. */
  admin(options?: Partial<TokenOptions>): Metadata;
  readonly web: Caller<typeof WebService, [as?: Metadata]>;
  readonly api: Caller<typeof APIService, [as: string | Metadata]>;
  readonly piped: Caller<typeof PipedService, [as: Metadata]>;
  readonly webL0: Caller<typeof WebServiceL0, [as?: Metadata]>;
  readonly pipedL0: Caller<typeof PipedServiceL0, [as: Metadata]>;
  /** Calls any path with any bytes. Returns only code and message. */
  raw(port: Port, path: string, metadata?: Metadata, body?: Uint8Array): Promise<Reply<typeof EmptySchema>>;
}

/** Opens the target before the tests of a file or group, and closes it after them. */
export function openEnvironment<T extends Target>(open: () => Promise<T>): Environment<T> {
  let opened: T | undefined;
  let wire: Wire | undefined;
  beforeAll(async () => {
    opened = await open();
    projectNames.set(opened.project, "quickstart").set(opened.otherProject, "other");
    wire = openWire();
  });
  afterAll(async () => {
    wire?.close();
    await opened?.close();
  });

  function openTarget(): T {
    if (opened === undefined) throw new Error("target used outside a test");
    return opened;
  }

  const admin = (options: Partial<TokenOptions> = {}): Metadata => {
    const { project, encryptionKey } = openTarget();
    return bearer({ project, key: encryptionKey, ...options });
  };

  async function send(port: Port, path: string, metadata: Metadata, body: Uint8Array) {
    const { addresses } = openTarget();
    if (wire === undefined) throw new Error("connection used outside a test");
    return wire.call(addresses[port], path, metadata, body);
  }

  async function callMethod<O extends DescMessage>(
    port: Port,
    { name, parent, input, output }: DescMethod & { readonly output: O },
    request: MessageInitShape<DescMessage>,
    metadata: Metadata,
  ): Promise<Reply<O>> {
    const bytes = toBinary(input, create(input, request));
    const reply = await send(port, `/${parent.typeName}/${name}`, metadata, bytes);
    const answer: MessageShape<O> | undefined = reply.body && fromBinary(output, reply.body);
    return { code: reply.code, message: reply.message, schema: output, answer };
  }

  const caller =
    <S extends GeneratedService, As extends readonly unknown[]>(
      port: Port,
      service: S,
      metadataOf: (...as: As) => Metadata,
    ): Caller<S, As> =>
    (method, request, ...as) => {
      const found = service.method[method];
      if (found === undefined) throw new Error(`${service.typeName} has no method ${method}`);
      return callMethod(port, found, request, metadataOf(...as));
    };

  const asAdmin = (as?: Metadata) => as ?? admin();
  return {
    get target() {
      return openTarget();
    },
    admin,
    web: caller("web", WebService, asAdmin),
    api: caller("api", APIService, (as: string | Metadata) => (typeof as === "string" ? keyHolder(as) : as)),
    piped: caller("piped", PipedService, (as: Metadata) => as),
    webL0: caller("web", WebServiceL0, asAdmin),
    pipedL0: caller("piped", PipedServiceL0, (as: Metadata) => as),
    async raw(port, path, metadata = [], body = new Uint8Array()) {
      const { code, message } = await send(port, path, metadata, body);
      return { code, message, schema: EmptySchema, answer: undefined };
    },
  };
}
