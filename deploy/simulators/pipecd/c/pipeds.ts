/** Pipeds in both services of PipeCD v0.57.0. */
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { APIService } from "@denrei/functions/pipecd/api/generated/c/apiservice_pb";
import {
  type APIKey,
  Command_Type,
  type Piped,
  Piped_ConnectionStatus,
  PipedKeySchema,
  PipedSchema,
} from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { WebService } from "@denrei/functions/pipecd/api/generated/c/webservice_pb";
import { hashOf, randomText } from "../secrets.ts";
import type { Handlers } from "../service.ts";
import { invalidArgument, permissionDenied, RpcError } from "../status.ts";
import { StoreError } from "../table.ts";
import type { Claims } from "../tokens.ts";
import { requireWriter } from "./callers.ts";
import { addCommand } from "./commands.ts";
import type { PlaneC } from "./plane.ts";
import { pipedOf, redacted, requirePiped, stored } from "./rows.ts";

const keyLength = 50;
/** A third key is rejected until the old ones are deleted. */
const maxKeys = 2;
/** A piped counts as online for this time after a report, in seconds. */
const statSeconds = 120n;

/** Methods of the WebService for pipeds. */
export function webPipeds(
  plane: PlaneC,
): Pick<
  Handlers<typeof WebService, Claims>,
  | "registerPiped"
  | "updatePiped"
  | "recreatePipedKey"
  | "deleteOldPipedKeys"
  | "enablePiped"
  | "disablePiped"
  | "listPipeds"
  | "getPiped"
  | "restartPiped"
> {
  const { store } = plane;

  function change(id: string, { project }: Claims, alter: (piped: Piped) => void): void {
    requirePiped(plane, id, project);
    changePiped(plane, id, alter);
  }

  return {
    registerPiped: (request, { project, subject }) => register(plane, request, project, subject),
    updatePiped({ pipedId, name, desc }, caller) {
      change(pipedId, caller, (piped) => Object.assign(piped, { name, desc }));
      return {};
    },
    recreatePipedKey({ id }, caller) {
      const key = randomText(keyLength);
      change(id, caller, (piped) => addKey(plane, piped, key, caller.subject));
      return { key };
    },
    deleteOldPipedKeys({ pipedId }, caller) {
      change(pipedId, caller, (piped) => {
        // Among keys of the same second, the first in the list is the newest.
        const newest = piped.keys.reduce((one, other) => (one.createdAt < other.createdAt ? other : one));
        piped.keys = [newest];
      });
      return {};
    },
    enablePiped({ pipedId }, caller) {
      change(pipedId, caller, (piped) => Object.assign(piped, { disabled: false }));
      return {};
    },
    disablePiped({ pipedId }, caller) {
      change(pipedId, caller, (piped) => Object.assign(piped, { disabled: true }));
      return {};
    },
    listPipeds({ withStatus, options }, { project }) {
      const pipeds = stored("list pipeds", () =>
        store.pipeds.find(
          (one) => one.projectId === project && (options?.enabled ?? !one.disabled) === !one.disabled,
        ),
      );
      if (withStatus) for (const piped of pipeds) piped.status = statusOf(plane, piped.id);
      return { pipeds: pipeds.map(redacted) };
    },
    getPiped({ pipedId }, { project }) {
      const piped = pipedOf(plane, pipedId);
      requirePiped(plane, pipedId, project);
      return { piped: redacted(piped) };
    },
    restartPiped({ pipedId }, { project, subject }) {
      const { id, projectId } = pipedOf(plane, pipedId);
      if (projectId !== project) {
        throw new RpcError(permissionDenied, "Requested Piped does not belong to your project");
      }
      const commandId = addCommand(plane, {
        pipedId: id,
        projectId,
        commander: subject,
        type: Command_Type.RESTART_PIPED,
        restartPiped: { pipedId: id },
      });
      return { commandId };
    },
  };
}

/** Methods of the APIService for pipeds. */
export function apiPipeds(
  plane: PlaneC,
): Pick<
  Handlers<typeof APIService, APIKey>,
  "registerPiped" | "getPiped" | "updatePiped" | "enablePiped" | "disablePiped"
> {
  function change(id: string, key: APIKey, alter: (piped: Piped) => void): void {
    requireWriter(key);
    if (pipedOf(plane, id).projectId !== key.projectId) {
      throw new RpcError(permissionDenied, "Requested piped doesn't belong to your project");
    }
    changePiped(plane, id, alter);
  }

  return {
    registerPiped(request, key) {
      requireWriter(key);
      return register(plane, request, key.projectId, key.name);
    },
    getPiped({ pipedId }, key) {
      const piped = pipedOf(plane, pipedId);
      if (piped.projectId !== key.projectId) {
        throw new RpcError(invalidArgument, "Requested piped does not belong to your project");
      }
      return { piped: redacted(piped) };
    },
    updatePiped({ pipedId, name, desc }, key) {
      change(pipedId, key, (piped) => Object.assign(piped, { name, desc }));
      return {};
    },
    enablePiped({ pipedId }, key) {
      change(pipedId, key, (piped) => Object.assign(piped, { disabled: false }));
      return {};
    },
    disablePiped({ pipedId }, key) {
      change(pipedId, key, (piped) => Object.assign(piped, { disabled: true }));
      return {};
    },
  };
}

function register(
  plane: PlaneC,
  { name, desc }: { readonly name: string; readonly desc: string },
  projectId: string,
  creator: string,
): { id: string; key: string } {
  const [id, key, now] = [randomUUID(), randomText(keyLength), plane.seconds()];
  const piped = create(PipedSchema, { id, name, desc, projectId, createdAt: now, updatedAt: now });
  addKey(plane, piped, key, creator);
  stored(`add piped ${id}`, () => plane.store.pipeds.add(piped));
  return { id, key };
}

function changePiped({ store, seconds }: PlaneC, id: string, alter: (piped: Piped) => void): void {
  stored(`update piped ${id}`, () =>
    store.pipeds.update(id, (piped) => {
      alter(piped);
      piped.updatedAt = seconds();
    }),
  );
}

/** Adds a key at the front. */
function addKey({ seconds }: PlaneC, piped: Piped, key: string, creator: string): void {
  // PipeCD does not return the reason to the caller.
  if (piped.keys.length === maxKeys) throw new StoreError("failed");
  piped.keys.unshift(create(PipedKeySchema, { hash: hashOf(key), creator, createdAt: seconds() }));
}

function statusOf({ redis, outage, clock }: PlaneC, id: string): Piped_ConnectionStatus {
  if (outage.cache) return Piped_ConnectionStatus.UNKNOWN;
  const reported = redis.stats.get(id);
  const isRecent = reported !== undefined && BigInt(clock()) - reported * 1000n <= statSeconds * 1000n;
  return isRecent ? Piped_ConnectionStatus.ONLINE : Piped_ConnectionStatus.OFFLINE;
}
