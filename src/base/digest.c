/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.c - SHA-256 by Nettle. */
#include "base/digest.h"

#include "base/files.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static nb_status letters_of(struct sha256_ctx *hash, const char **sha256, nb_ctx *ctx)
{
    uint8_t sum[SHA256_DIGEST_SIZE];
    char *letters;
    NB_NEED(letters, nb_alloc(ctx, NB_DIGEST_LETTERS + 1, 1));
    sha256_digest(hash, sizeof sum, sum);
    base16_encode_update(letters, sizeof sum, sum);
    *sha256 = letters;
    return NB_OK;
}

nb_status nb_digest_text(const char *text, const char **sha256, nb_ctx *ctx)
{
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, strlen(text), (const uint8_t *)text);
    return letters_of(&hash, sha256, ctx);
}

nb_status nb_digest_file(const char *path, const char **sha256, long long *bytes, nb_ctx *ctx)
{
    struct sha256_ctx hash;
    uint8_t chunk[CHUNK];
    size_t got;
    FILE *in = fopen(path, "rb");
    NB_REQUIRE(ctx, in, nb_file_status(errno), "%s: cannot be opened: %s", path, strerror(errno));
    sha256_init(&hash);
    *bytes = 0;
    while ((got = fread(chunk, 1, sizeof chunk, in)) > 0) {
        sha256_update(&hash, got, chunk);
        *bytes += (long long)got;
    }
    int reason = ferror(in) ? errno : 0;
    fclose(in);
    NB_REQUIRE(ctx, reason == 0, nb_file_status(reason), "%s: cannot be read: %s", path, strerror(reason));
    return letters_of(&hash, sha256, ctx);
}

/* Each step maps different words, and different sums, to different sums, so that one
 * changed word is never lost; four chains hide the latency of the product. */
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

uint64_t nb_checksum(const void *bytes, size_t count, uint64_t start)
{
    const unsigned char *at = bytes;
    uint64_t sums[4] = {start, 1, 2, 3}, word[4] = {0};
    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < 4; i++) sums[i] = mix(sums[i], word[i]);
    }
    memset(word, 0, sizeof word);
    if (count > 0) memcpy(word, at, count);
    for (int i = 0; i < 4; i++) sums[0] = mix(mix(sums[0], word[i]), sums[i]);
    return mix(sums[0], count);
}
