import { expect, test } from "vitest";
import { clientOf } from "../../../src/events/collect/userAgent.js";

const engine = "AppleWebKit/537.36 (KHTML, like Gecko)";
const safari = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
test.each([
  ["tablet", `Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) ${safari} Version/17.5 Mobile/15E148 Safari/604.1`],
  ["desktop", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"],
  ["tv", `Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) ${engine} SamsungBrowser/4.0 Chrome/94.0 TV Safari/537.36`],
  ["tv", `Mozilla/5.0 (Linux; Android 9; AFTMM Build/PS7633) ${engine} Silk/112.5.1 like Chrome/112.0 Safari/537.36`],
  ["tv", `Mozilla/5.0 (Linux; Android 12; Chromecast Build/STTE) ${engine} Chrome/111.0.0.0 Safari/537.36`],
  ["tv", `Mozilla/5.0 (Linux; Android 11; Google TV Streamer) ${engine} Chrome/120.0.0.0 Safari/537.36`],
  ["mobile", `Mozilla/5.0 (Linux; Android 13; SM-S901B; wv) ${engine} Chrome/114.0 Mobile Safari/537.36 [FB_IAB/FB4A]`],
  ["tablet", `Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) ${safari} Mobile/15E148 Instagram 299.0`],
  [
    "mobile",
    "[FBAN/FB4A;FBAV/445.0.0.34.118;FBDM/{density=1.75,width=720,height=1465};FBLC/en_GB;FBCR/Vodafone;FBDV/SM-A037F]",
  ],
  ["mobile", "Dalvik/2.1.0 (Linux; U; Android 12; SM-A037F Build/SP1A) [FBAN/FB4A;FBAV/445.0.0.34.118]"],
  [
    "mobile",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${safari} Mobile/15E148 [FBAN/FBIOS;FBCR/Vodafone TV;FBID/phone]`,
  ],
  ["mobile", `Mozilla/5.0 (X11; Linux x86_64) ${engine} Chrome/114.0 Safari/537.36 [FB_IAB/FB4A]`],
  ["tablet", "[FBAN/FBIOS;FBAV/468.0.0.34.72;FBDV/iPad13,1;FBMD/iPad;FBSN/iPadOS;FBID/tablet]"],
  ["tablet", `Mozilla/5.0 (Linux; Android 14; SM-X200; wv) ${engine} Chrome/126.0 Safari/537.36 [FB_IAB/FB4A]`],
  ["desktop", `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${engine} Chrome/120.0.0.0 Safari/537.36`],
  ["other", "something else"],
  ["other", "x".repeat(4_000)],
])("the device is %s for %.60s", (device, userAgent) => {
  expect(clientOf(userAgent).device).toBe(device);
});
