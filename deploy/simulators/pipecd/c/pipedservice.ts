/** The PipedService of PipeCD v0.57.0, which pipeds call. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Piped, PipedSchema } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { PipedService } from "../generated/c/pipedservice_pb.ts";
import type { PipedCaller } from "../pipedtokens.ts";
import type { Handlers } from "../service.ts";
import { internal, RpcError } from "../status.ts";
import { pipedEvents } from "./events.ts";
import type { PlaneC } from "./plane.ts";
import { pipedOf, stored } from "./rows.ts";

/** Methods of the PipedService. */
export function pipedMethods(plane: PlaneC): Handlers<typeof PipedService, PipedCaller> {
  const { redis, outage, seconds } = plane;
  return {
    ...pipedEvents(plane),
    reportStat(_, { id }) {
      if (outage.cache) throw new RpcError(internal, "failed to store the reported piped stat");
      redis.stats.set(id, seconds());
      return {};
    },
    reportPipedMeta(request, { id }) {
      const { version, config, cloudProviders, plugins, repositories, secretEncryption } = request;
      const platformProviders = [
        ...cloudProviders.map(({ name, type }) => ({ name, type })),
        ...request.platformProviders,
      ];
      const meta: Meta = { version, config, plugins, repositories, platformProviders };
      stored(`update metadata of piped ${id}`, () =>
        plane.store.pipeds.update(id, (piped) => {
          replaceMeta(piped, { ...meta, ...(secretEncryption && { secretEncryption }) }, seconds());
        }),
      );
      return { name: pipedOf(plane, id).name };
    },
  };
}

type Meta = Pick<
  Exclude<MessageInitShape<typeof PipedSchema>, Piped>,
  "version" | "config" | "plugins" | "repositories" | "platformProviders" | "secretEncryption"
>;

function replaceMeta(piped: Piped, meta: Meta, now: bigint): void {
  const { id, name, desc, projectId, keys, disabled, createdAt, desiredVersion } = piped;
  const kept = { id, name, desc, projectId, keys, disabled, createdAt, desiredVersion };
  delete piped.secretEncryption;
  Object.assign(piped, create(PipedSchema, { ...kept, ...meta, startedAt: now, updatedAt: now }));
}
