//! Bodies: stored, read back and verified, in the database, in a folder and in a bucket.

use std::io::Write;

use bytes::Bytes;
use dropleaf_store::blobs::{Encoding, NewBlob, NewBody, OpenBlob};
use dropleaf_store::{BlobError, Blobs, Db, Stmt};
use futures_util::TryStreamExt;

use crate::harness::{INLINE, NOW, body_stores, for_each_database, noise, plain, text};

async fn keep(db: &Db, blobs: &Blobs, blob: NewBlob, nonce: &str) -> [u8; 32] {
    let hash = blob.hash;
    let row = blobs.stage(db, blob, nonce, NOW).await.unwrap();
    db.exec(row).await.unwrap();
    hash
}

fn packed(bytes: &Bytes) -> NewBlob {
    let stored = zstd::bulk::compress(bytes, 3).unwrap();
    NewBlob { encoding: Encoding::Zstd, body: NewBody::Memory(stored.into()), ..plain(bytes) }
}

fn from_file(bytes: &Bytes) -> NewBlob {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    NewBlob { body: NewBody::File { file, stored_bytes: bytes.len() as u64 }, ..plain(bytes) }
}

async fn whole(blob: &OpenBlob) -> Result<Bytes, BlobError> {
    let chunks: Vec<Bytes> = blob.stream().await?.try_collect().await?;
    Ok(chunks.concat().into())
}

async fn key_of(db: &Db, hash: &[u8; 32]) -> Option<String> {
    db.get("SELECT object_key FROM blobs WHERE hash = $1", &[hash.into()], |row| {
        Ok(row.opt_text(0)?.map(str::to_owned))
    })
    .await
    .unwrap()
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_every_size_come_back_as_they_were() {
    for_each_database(async |database| {
        let db = database.open().await;
        for (n, blobs) in body_stores(database, INLINE).into_iter().enumerate() {
            for size in [0, 1, 1000, INLINE, INLINE + 1, 300_000, (8 << 20) + 1, 17 << 20] {
                let bytes = noise(&format!("{n}-{size}"), size);
                let blob = if size % 2 == 0 { plain(&bytes) } else { from_file(&bytes) };
                let hash = keep(&db, &blobs, blob, "n").await;
                assert_eq!(key_of(&db, &hash).await.is_some(), size > INLINE);
                assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
                let open = blobs.open_body(&db, &hash).await.unwrap();
                assert_eq!((open.size_bytes, open.encoding), (size as u64, Encoding::Identity));
                assert_eq!(whole(&open).await.unwrap(), bytes);
                if size > 1000 {
                    let part: Vec<Bytes> = open.range(10..500).await.unwrap().try_collect().await.unwrap();
                    assert_eq!(part.concat(), bytes[10..500]);
                    assert!(open.range(10..size as u64 + 1).await.is_err());
                }
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_bodies_are_read_as_they_were_uploaded() {
    for_each_database(async |database| {
        let db = database.open().await;
        for (n, blobs) in body_stores(database, 1000).into_iter().enumerate() {
            for repeats in [10, 50_000] {
                let bytes = Bytes::from(
                    [
                        noise(&n.to_string(), 20).to_vec(),
                        b"leaf ".repeat(repeats),
                        noise("end", 900).to_vec(),
                    ]
                    .concat(),
                );
                let hash = keep(&db, &blobs, packed(&bytes), "n").await;
                assert_eq!(blobs.read(&db, &hash).await.unwrap(), bytes);
                let open = blobs.open_body(&db, &hash).await.unwrap();
                assert_eq!((open.encoding, open.size_bytes), (Encoding::Zstd, bytes.len() as u64));
                let stored = whole(&open).await.unwrap();
                assert_eq!(stored.len() as u64, open.stored_bytes);
                assert_eq!(zstd::bulk::decompress(&stored, bytes.len()).unwrap(), bytes);
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn same_body_is_kept_once_and_counted() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        for bytes in [noise("small", 100), noise("large", INLINE + 1)] {
            let hash = keep(&db, &blobs, plain(&bytes), "first").await;
            let key = key_of(&db, &hash).await;
            for refs in [2, 3] {
                let row = blobs.stage(&db, plain(&bytes), "second", NOW + 50).await.unwrap();
                db.exec(row).await.unwrap();
                let sql = "SELECT refs FROM blobs WHERE hash = $1";
                assert_eq!(db.get(sql, &[hash.into()], |row| row.int(0)).await.unwrap(), Some(refs));
            }
            assert_eq!(key_of(&db, &hash).await, key);
        }
        assert_eq!(db.list("SELECT encoding FROM blobs", vec![], text).await.unwrap().len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_uploads_of_one_body_agree() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let bytes = noise("both", INLINE + 1);
        let (one, two) = tokio::join!(
            blobs.stage(&db, plain(&bytes), "one", NOW),
            blobs.stage(&db, plain(&bytes), "two", NOW)
        );
        let (one, two) = tokio::join!(db.exec(one.unwrap()), db.exec(two.unwrap()));
        one.unwrap();
        two.unwrap();
        assert_eq!(blobs.read(&db, blake3::hash(&bytes).as_bytes()).await.unwrap(), bytes);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_bodies_are_never_handed_out() {
    for_each_database(async |database| {
        let db = database.open().await;
        let blobs = database.blobs();
        let inline = keep(&db, &blobs, plain(&noise("inline", 500)), "n").await;
        let object = keep(&db, &blobs, plain(&noise("object", 200_000)), "n").await;
        let squeezed = keep(
            &db,
            &blobs,
            packed(&Bytes::from([noise("z", 90_000).to_vec(), vec![b'a'; 9000]].concat())),
            "n",
        )
        .await;
        let cut = keep(&db, &blobs, plain(&noise("cut", 200_000)), "n").await;
        let gone = keep(&db, &blobs, plain(&noise("gone", 200_000)), "n").await;

        db.exec(Stmt::new(
            "UPDATE blobs SET body = $1 WHERE hash = $2",
            [vec![0_u8; 500].into(), inline.into()],
        ))
        .await
        .unwrap();
        for hash in [object, squeezed] {
            let path = database.dir.path().join("blobs").join(key_of(&db, &hash).await.unwrap());
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[70_000] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
        let path = database.dir.path().join("blobs").join(key_of(&db, &cut).await.unwrap());
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(150_000).unwrap();
        blobs.delete(&key_of(&db, &gone).await.unwrap()).await.unwrap();
        blobs.delete(&key_of(&db, &gone).await.unwrap()).await.unwrap();

        for hash in [inline, object, squeezed, cut] {
            assert!(matches!(blobs.read(&db, &hash).await, Err(BlobError::Corrupt)));
            let open = blobs.open_body(&db, &hash).await.unwrap();
            assert!(matches!(whole(&open).await, Err(BlobError::Corrupt)));
        }
        assert!(matches!(blobs.read(&db, &gone).await, Err(BlobError::Missing)));
        assert!(matches!(blobs.read(&db, &[1; 32]).await, Err(BlobError::Missing)));
        assert!(matches!(blobs.open_body(&db, &[1; 32]).await, Err(BlobError::Missing)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_bucket_is_unavailable_and_odd_urls_are_refused() {
    let database = crate::harness::TestDatabase::sqlite();
    let db = database.open().await;
    let nowhere = "s3://bucket?endpoint=http://127.0.0.1:1&region=x&access_key_id=a&secret_access_key=hush%2Bhush&allow_http=true";
    let blobs = Blobs::open(nowhere, 10).unwrap();
    let refused = blobs.stage(&db, plain(&noise("x", 100)), "n", NOW).await;
    assert!(matches!(refused, Err(BlobError::Unavailable(_))), "{refused:?}");
    for url in ["http://x", "s3://bucket?colour=green", ""] {
        assert!(matches!(Blobs::open(url, 10), Err(BlobError::Internal(_))), "{url}");
    }
    assert!(!format!("{blobs:?}").contains("hush"), "{blobs:?}");
}
