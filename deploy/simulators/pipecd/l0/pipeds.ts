/** Environments and pipeds in the WebService of PipeCD v0.9.0. */
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  EnvironmentSchema,
  type Piped,
  Piped_ConnectionStatus,
  PipedKeySchema,
  PipedSchema,
} from "@denrei/functions/pipecd/api/generated/l0/model_pb";
import type { WebService } from "@denrei/functions/pipecd/api/generated/l0/webservice_pb";
import { hashOf, randomText } from "../secrets.ts";
import type { Handlers } from "../service.ts";
import { RpcError, unimplemented } from "../status.ts";
import type { Claims } from "../tokens.ts";
import type { PlaneL0 } from "./plane.ts";
import { pipedOf, requirePiped, stored } from "./rows.ts";

const keyLength = 50;
/** Adding another key removes the oldest one. */
const maxKeys = 3;

/** Methods of the WebService for environments. */
export function webEnvironments({
  store,
  seconds,
}: PlaneL0): Pick<
  Handlers<typeof WebService, Claims>,
  "addEnvironment" | "updateEnvironmentDesc" | "listEnvironments"
> {
  return {
    addEnvironment({ name, desc }, { project }) {
      const now = seconds();
      const row = { id: randomUUID(), name, desc, projectId: project, createdAt: now, updatedAt: now };
      stored("Failed to create environment", () => store.environments.add(create(EnvironmentSchema, row)));
      return {};
    },
    updateEnvironmentDesc() {
      throw new RpcError(unimplemented, "");
    },
    listEnvironments: (_, { project }) => ({
      environments: stored("Failed to get environments", () =>
        store.environments.find(({ projectId }) => projectId === project),
      ),
    }),
  };
}

/** Methods of the WebService for pipeds. */
export function webPipeds(
  plane: PlaneL0,
): Pick<
  Handlers<typeof WebService, Claims>,
  "registerPiped" | "recreatePipedKey" | "enablePiped" | "disablePiped" | "listPipeds" | "getPiped"
> {
  const { store, seconds } = plane;

  function change(id: string, { project }: Claims, alter: (piped: Piped) => void): void {
    requirePiped(plane, id, project);
    stored("Failed to update the piped ", () =>
      store.pipeds.update(id, (piped) => {
        alter(piped);
        piped.updatedAt = seconds();
      }),
    );
  }

  return {
    registerPiped({ name, desc, envIds }, { project, subject }) {
      const [id, key, now] = [randomUUID(), randomText(keyLength), seconds()];
      const piped = create(PipedSchema, {
        ...{ id, name, desc, envIds },
        projectId: project,
        status: Piped_ConnectionStatus.OFFLINE,
        createdAt: now,
        updatedAt: now,
      });
      addKey(piped, key, subject, now);
      stored("Failed to register piped", () => store.pipeds.add(piped));
      return { id, key };
    },
    recreatePipedKey({ id }, caller) {
      const key = randomText(keyLength);
      change(id, caller, (piped) => addKey(piped, key, caller.subject, seconds()));
      return { key };
    },
    enablePiped({ pipedId }, caller) {
      change(pipedId, caller, (piped) => Object.assign(piped, { disabled: false }));
      return {};
    },
    disablePiped({ pipedId }, caller) {
      change(pipedId, caller, (piped) => Object.assign(piped, { disabled: true }));
      return {};
    },
    // PipeCD always returns the stored status.
    listPipeds({ options }, { project }) {
      const pipeds = stored("Failed to get pipeds", () =>
        store.pipeds.find(
          (one) => one.projectId === project && (options?.enabled ?? !one.disabled) === !one.disabled,
        ),
      );
      return { pipeds: pipeds.map(redacted) };
    },
    getPiped({ pipedId }, { project }) {
      const piped = pipedOf(plane, pipedId);
      requirePiped(plane, pipedId, project);
      return { piped: redacted(piped) };
    },
  };
}

/** Adds a key at the front. */
function addKey(piped: Piped, key: string, creator: string, createdAt: bigint): void {
  const kept = piped.keys.sort((a, b) => Number(b.createdAt - a.createdAt)).slice(0, maxKeys - 1);
  piped.keys = [create(PipedKeySchema, { hash: hashOf(key), creator, createdAt }), ...kept];
}

/** PipeCD hides only the unused field `keyHash`; the hashes of the keys are returned. */
function redacted(piped: Piped): Piped {
  piped.keyHash = "redacted";
  return piped;
}
