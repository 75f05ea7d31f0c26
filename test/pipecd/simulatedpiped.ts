/** A simulated piped: it reports its configuration and statistics to a control plane. */
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

/** Options of a simulated piped. */
export interface SimulatedPipedOptions {
  readonly profile: "C" | "L0";
  /** Address of the port for pipeds: `host:port`. */
  readonly address: string;
  readonly project: string;
  readonly id: string;
  readonly key: string;
}

/** A repository in a piped's configuration. */
export interface Repository {
  readonly id: string;
  readonly remote: string;
  readonly branch: string;
}

/** A piped that calls only on request. */
export interface SimulatedPiped {
  /** Reports its metadata, as a real piped does at start. Returns the status code. */
  start(repositories: readonly Repository[]): Promise<number>;
  /** Reports its statistics, as a real piped does every minute, first after a minute. Returns the status code. */
  beat(): Promise<number>;
  close(): void;
}

/** Creates a simulated piped, which connects at the first call. */
export function simulatePiped({ profile, address, project, id, key }: SimulatedPipedOptions): SimulatedPiped {
  const wire = openWire();
  const service = profile === "C" ? PipedServiceC : PipedServiceL0;
  const call = async (method: string, body: Uint8Array): Promise<number> => {
    const metadata = pipedToken(project, id, key);
    return (await wire.call(address, `/${service.typeName}/${method}`, metadata, body)).code;
  };
  return {
    start(repositories) {
      const schema = profile === "C" ? MetaSchemaC : MetaSchemaL0;
      const meta = { version: "simulated", repositories: [...repositories] };
      return call("ReportPipedMeta", toBinary(schema, create(schema, meta)));
    },
    beat() {
      if (profile === "C") {
        return call("ReportStat", toBinary(ReportStatRequestSchema, create(ReportStatRequestSchema)));
      }
      const pipedStats = { version: "simulated", timestamp: BigInt(Math.trunc(Date.now() / 1000)) };
      return call("Ping", toBinary(PingRequestSchema, create(PingRequestSchema, { pipedStats })));
    },
    close: wire.close,
  };
}
