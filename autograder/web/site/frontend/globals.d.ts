// What the service worker has: two names that build.py puts in front of it, and its own events.
declare const FILES: Record<string, string>, VERSION: string, clients: Clients;
declare function skipWaiting(): Promise<void>;
declare function addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
declare function addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
declare function addEventListener(type: "message", listener: (event: ExtendableMessageEvent) => void): void;
