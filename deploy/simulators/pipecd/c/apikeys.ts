/** API keys of PipeCD v0.57.0. */
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { APIKeySchema } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type { WebService } from "@denrei/functions/pipecd/api/generated/c/webservice_pb";
import { hashOf, randomText } from "../secrets.ts";
import type { Handlers } from "../service.ts";
import { StoreError } from "../table.ts";
import type { Claims } from "../tokens.ts";
import type { PlaneC } from "./plane.ts";
import { stored } from "./rows.ts";

const secretLength = 32;

/** Methods of the WebService for API keys. */
export function webApiKeys({
  store,
  redis,
  outage,
  seconds,
}: PlaneC): Pick<Handlers<typeof WebService, Claims>, "generateAPIKey" | "disableAPIKey" | "listAPIKeys"> {
  return {
    generateAPIKey({ name, role }, { project, subject }) {
      const [id, now] = [randomUUID(), seconds()];
      const key = `${id}.${randomText(secretLength)}`;
      const row = { id, name, role, projectId: project, creator: subject, createdAt: now, updatedAt: now };
      stored(`add API key ${id}`, () =>
        store.apiKeys.add(create(APIKeySchema, { ...row, keyHash: hashOf(key) })),
      );
      return { key };
    },
    disableAPIKey({ id }, { project }) {
      stored(`disable API key ${id}`, () =>
        store.apiKeys.update(id, (key) => {
          // PipeCD reports this like any datastore failure.
          if (key.projectId !== project) throw new StoreError("failed");
          Object.assign(key, { disabled: true, updatedAt: seconds() });
        }),
      );
      return {};
    },
    listAPIKeys({ options }, { project }) {
      const keys = stored("list API keys", () =>
        store.apiKeys.find(
          (one) => one.projectId === project && (options?.enabled ?? !one.disabled) === !one.disabled,
        ),
      );
      for (const key of keys) {
        const used = outage.cache ? undefined : redis.lastUsed.get(key.id);
        // PipeCD shows the hash of a key that was never used.
        if (used !== undefined) Object.assign(key, { lastUsedAt: used, keyHash: "redacted" });
      }
      return { keys };
    },
  };
}
