/** A piped as far as a control plane notices one: it says what it is configured with, and that it is still there. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  ReportPipedMetaRequestSchema as MetaSchemaC,
  PipedService as PipedServiceC,
  ReportStatRequestSchema,
} from "../../deploy/simulators/pipecd/generated/c/pipedservice_pb.ts";
import {
  ReportPipedMetaRequestSchema as MetaSchemaL0,
  PingRequestSchema,
  PipedService as PipedServiceL0,
} from "../../deploy/simulators/pipecd/generated/l0/pipedservice_pb.ts";
import { pipedToken } from "./contract/tokens.ts";
import { openWire } from "./contract/wire.ts";

/** Which piped is played, and where it reports to. */
export interface PlayedPipedOptions {
  readonly profile: "C" | "L0";
  /** The address of the port for pipeds: `host:port`. */
  readonly address: string;
  readonly project: string;
  readonly id: string;
  readonly key: string;
}

/** A repository of a piped's configuration. */
export interface Repository {
  readonly id: string;
  readonly remote: string;
  readonly branch: string;
}

/** A piped that does only what it is told. */
export interface PlayedPiped {
  /** What a real one does when it starts. Returns the status code. */
  start(repositories: readonly Repository[]): Promise<number>;
  /** What a real one does every minute, the first time after a minute. Returns the status code. */
  beat(): Promise<number>;
  close(): void;
}

/** Connects when it is told to do something. */
export function playPiped({ profile, address, project, id, key }: PlayedPipedOptions): PlayedPiped {
  const wire = openWire();
  const service = profile === "C" ? PipedServiceC : PipedServiceL0;
  const call = async (method: string, body: Uint8Array): Promise<number> => {
    const metadata = pipedToken(project, id, key);
    return (await wire.call(address, `/${service.typeName}/${method}`, metadata, body)).code;
  };
  return {
    start(repositories) {
      const schema = profile === "C" ? MetaSchemaC : MetaSchemaL0;
      const meta = { version: "played", repositories: [...repositories] };
      return call("ReportPipedMeta", toBinary(schema, create(schema, meta)));
    },
    beat() {
      if (profile === "C") {
        return call("ReportStat", toBinary(ReportStatRequestSchema, create(ReportStatRequestSchema)));
      }
      const pipedStats = { version: "played", timestamp: BigInt(Math.trunc(Date.now() / 1000)) };
      return call("Ping", toBinary(PingRequestSchema, create(PingRequestSchema, { pipedStats })));
    },
    close: wire.close,
  };
}
