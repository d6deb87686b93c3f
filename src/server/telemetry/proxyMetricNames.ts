/** The metrics that `vitrine doctor` reads, in a separate file so that it loads nothing else. */
export const proxyAddresses = "vitrine_collect_proxy_addresses_total";
export const untrustedProxies = "vitrine_untrusted_proxies_total";
