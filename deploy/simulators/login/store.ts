/** The issuer's sessions. They are stored outside the provider so that they survive key rotation. */
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** Creates an in-memory store. */
export function memoryStore(): AdapterFactory {
  const payloads = new Map<string, AdapterPayload>();

  return (model: string): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;
    const findBy = async (field: "uid" | "userCode", value: string) =>
      [...payloads].find(([key, payload]) => key.startsWith(`${model}:`) && payload[field] === value)?.[1];
    return {
      async upsert(id, payload) {
        payloads.set(keyOf(id), payload);
      },
      find: async (id) => payloads.get(keyOf(id)),
      findByUid: (uid) => findBy("uid", uid),
      findByUserCode: (userCode) => findBy("userCode", userCode),
      async consume(id) {
        const payload = payloads.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        payloads.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of payloads) if (payload.grantId === grantId) payloads.delete(key);
      },
    };
  };
}
