/** The issuer's sessions. They are stored outside the provider so that they survive key rotation. */
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** Creates an in-memory store. */
export function memoryStore(): AdapterFactory {
  const kept = new Map<string, AdapterPayload>();

  return (model: string): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;
    const by = async (field: "uid" | "userCode", value: string) =>
      [...kept].find(([key, payload]) => key.startsWith(`${model}:`) && payload[field] === value)?.[1];
    return {
      async upsert(id, payload) {
        kept.set(keyOf(id), payload);
      },
      find: async (id) => kept.get(keyOf(id)),
      findByUid: (uid) => by("uid", uid),
      findByUserCode: (userCode) => by("userCode", userCode),
      async consume(id) {
        const payload = kept.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        kept.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };
}
